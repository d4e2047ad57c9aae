/*
 * terminal.c - the terminal, and giving it back as it was.
 *
 * What ends the program by a signal is caught: `goodbye', made beforehand, and the modes go to the
 * terminal with nothing but async-signal-safe calls, and then the signal does what it always does.
 *
 * SIGTSTP, SIGCONT and SIGWINCH are blocked but for the sleep in terminal_key(), so none of them
 * comes between a look at what it changed and the sleep.  curses' own handler of SIGTSTP is not
 * used: it calls all of curses, whatever was going on.
 */
#include "terminal.h"

#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "say.h"
#include "signals.h"

static struct termios before;
static char goodbye[256]; /* cursor visible, keys and attributes as ever, and the old screen */
static size_t goodbyes;
static atomic_bool taken; /* the terminal is not as it was */
static atomic_bool suspended, continued;
static sigset_t awake, asleep; /* what is blocked */

/* ---- the signals ---- */

static bool
in_background(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group != -1 && group != getpgrp();
}

/* All signals are blocked here: in the background, SIGTTOU would stop us otherwise. */
static void
on_end(int sig)
{
	if (atomic_load(&taken)) {
		ssize_t written = write(STDOUT_FILENO, goodbye, goodbyes);
		(void)written;
		/* The modes of now are those of the shell that has the terminal. */
		if (!in_background())
			tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	raise(sig); /* SA_RESETHAND: it ends us when this returns */
}

static void
on_stop(int sig)
{
	atomic_store(sig == SIGTSTP ? &suspended : &continued, true);
}

/* These end us even where they are ignored. */
static bool
is_fault(int sig)
{
	return signal_is_fault(sig) || sig == SIGSYS;
}

static bool
is_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* What was ignored stays so: nohup.  After newterm(), which catches some itself. */
static void
catch_all(void)
{
	static char stack[1 << 16]; /* the usual one may be what is full */
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction end = { .sa_handler = on_end,
				 .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK) };
	struct sigaction stop = { .sa_handler = on_stop };
	int sig;

	sigaltstack(&other, NULL);
	sigfillset(&end.sa_mask);
	for (sig = 1; sig < 32; sig++)
		if (signal_ends(sig) && (is_fault(sig) || !is_ignored(sig)))
			sigaction(sig, &end, NULL);
	if (!is_ignored(SIGTSTP))
		sigaction(SIGTSTP, &stop, NULL);
	sigaction(SIGCONT, &stop, NULL);

	sigprocmask(SIG_BLOCK, NULL, &asleep);
	awake = asleep;
	for (sig = 0; sig < 3; sig++) {
		static const int ours[] = { SIGTSTP, SIGCONT, SIGWINCH };
		sigaddset(&awake, ours[sig]);
		sigdelset(&asleep, ours[sig]);
	}
	sigprocmask(SIG_SETMASK, &awake, NULL);
}

/* ---- taking it ---- */

static int
add_goodbye(int c)
{
	if (goodbyes < sizeof(goodbye))
		goodbye[goodbyes++] = (char)c;
	return c;
}

static void
prepare_goodbye(void)
{
	static const char *const capabilities[] = { "sgr0", "op", "rmkx", "cnorm", "rmcup" };
	size_t i;

	for (i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		const char *s = tigetstr(capabilities[i]);
		if (s != NULL && s != (const char *)-1)
			tputs(s, 1, add_goodbye);
	}
}

static bool
knows_this_terminal(void)
{
	const char *type = getenv("TERM"), *move;
	int known = 0;

	if (type != NULL && *type != '\0' && setupterm(type, STDOUT_FILENO, &known) == OK) {
		move = tigetstr("cup");
		if (move != NULL && move != (const char *)-1)
			return true;
	}
	say(NULL, "top: TERM=%s: not a terminal whose cursor can be moved; without: list, show",
	    type != NULL ? type : "");
	return false;
}

/* Else the modes would be read while the shell has them as it likes to edit a line. */
static void
wait_for_foreground(void)
{
	if (in_background())
		kill(0, SIGTTOU);
}

bool
terminal_begin(void)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		say(NULL, "top: needs a terminal; without one: list, show, log -f");
		return false;
	}
	if (!knows_this_terminal())
		return false;
	wait_for_foreground();
	signal(SIGWINCH, SIG_DFL); /* for curses to catch it */
	if (tcgetattr(STDIN_FILENO, &before) != 0 || newterm(NULL, stdout, stdin) == NULL) {
		say(NULL, "top: the terminal can't be used: %s", strerror(errno));
		return false;
	}
	prepare_goodbye();
	atomic_store(&taken, true);
	catch_all();
	cbreak();
	noecho();
	nonl(); /* Enter is '\r' then, and ^J another key */
	keypad(stdscr, TRUE);
	timeout(0);
	if (getenv("ESCDELAY") == NULL)
		set_escdelay(50);
	curs_set(0);
	return true;
}

void
terminal_end(void)
{
	endwin();
	atomic_store(&taken, false);
}

/* ---- using it ---- */

static void
suspend(void)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, old;

	endwin();
	atomic_store(&taken, false);
	sigaction(SIGTSTP, &stop, &old);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &asleep, NULL); /* here it stops, and goes on */
	sigprocmask(SIG_SETMASK, &awake, NULL);
	sigaction(SIGTSTP, &old, NULL);
	wait_for_foreground();
	tcgetattr(STDIN_FILENO, &before); /* whoever used it meanwhile may have changed them */
	def_shell_mode();
	atomic_store(&taken, true);
}

static int
come_back(void)
{
	if (atomic_exchange(&suspended, false))
		suspend();
	else
		reset_prog_mode(); /* of a SIGSTOP we did not know */
	atomic_store(&continued, false);
	raise(SIGWINCH); /* nobody told us while we were stopped */
	return KEY_AGAIN;
}

/*
 * A key on its own, or the first byte of what no terminal description knows.  What follows at once
 * belongs to it: taken for keys, it would do things.
 */
static int
escape(void)
{
	int key = 27;

	while (getch() != ERR)
		key = ERR;
	return key;
}

int
terminal_key(int ms)
{
	struct timespec most = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	static int empty;
	int key, ready;

	if (atomic_load(&suspended) || atomic_load(&continued))
		return come_back();
	if ((key = getch()) != ERR)
		return key == 27 ? escape() : key;
	ready = ppoll(&in, 1, &most, &asleep);
	if (atomic_load(&suspended) || atomic_load(&continued))
		return come_back();
	if ((key = getch()) != ERR)
		return key == 27 ? escape() : key;
	/* It can be read, and there is nothing, again and again: an end.  To ask on would be to spin. */
	empty = ready > 0 ? empty + 1 : 0;
	return empty > 3 ? KEY_LOST : ERR;
}

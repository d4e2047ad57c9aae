/* SPDX-License-Identifier: ISC */
/*
 * terminal.c - the terminal, and giving it back as it was.
 *
 * We catch every signal that ends the program.  The handler writes `goodbye', which was prepared,
 * to the terminal, and sets its modes back, all with async-signal-safe calls; then the signal ends
 * us.
 *
 * SIGTSTP, SIGCONT and SIGWINCH are blocked except during the sleep in terminal_key(), so that none
 * of them can come between our test of its flag and the sleep.  We replace curses' handler of
 * SIGTSTP, which calls functions that are not async-signal-safe.
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
static atomic_bool taken; /* curses has changed the terminal */
static atomic_int suspended, continued;
static sigset_t awake, asleep; /* the signals that are blocked while we work, and while we sleep */

/* ---- the signals ---- */

static bool
in_background(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group != -1 && group != getpgrp();
}

/* All signals are blocked in this handler, or SIGTTOU would stop us in the background. */
static void
on_end(int sig)
{
	if (atomic_load(&taken)) {
		ssize_t written = write(STDOUT_FILENO, goodbye, goodbyes);
		(void)written;
		/* In the background the shell has the terminal, with modes of its own. */
		if (!in_background())
			tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	raise(sig); /* SA_RESETHAND: the signal ends us when the handler returns */
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

/*
 * An ignored signal stays ignored: nohup(1).  Call it after newterm(), which catches some itself.
 */
static void
catch_all(void)
{
	static char stack[1 << 16]; /* the fault may be that the normal stack is full */
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

/* Else we would read the modes that the shell has set for its own line editing. */
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
	sigprocmask(SIG_SETMASK, &asleep, NULL); /* the SIGTSTP stops us here, until SIGCONT */
	sigprocmask(SIG_SETMASK, &awake, NULL);
	sigaction(SIGTSTP, &old, NULL);
	wait_for_foreground();
	tcgetattr(STDIN_FILENO, &before); /* another program may have changed them meanwhile */
	def_shell_mode();
	atomic_store(&taken, true);
}

static int
come_back(void)
{
	if (atomic_exchange(&suspended, false))
		suspend();
	else
		reset_prog_mode(); /* after a SIGSTOP, which can't be caught */
	atomic_store(&continued, false);
	raise(SIGWINCH); /* the window may have changed while we were stopped */
	return KEY_AGAIN;
}

/*
 * After an escape byte: the Escape key, or the beginning of a sequence that the terminal's
 * description does not have.  Bytes that follow at once belong to such a sequence, and are dropped:
 * as keys they would do things.
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
	/*
	 * If poll says again and again that there is input, and there is none, the terminal is
	 * gone.
	 */
	empty = ready > 0 ? empty + 1 : 0;
	return empty > 3 ? KEY_LOST : ERR;
}

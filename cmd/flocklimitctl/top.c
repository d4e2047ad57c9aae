/*
 * top.c - show, live.  A look a second; nothing is asked of the takers.
 */
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "now.h"
#include "say.h"
#include "text.h"

#define LOOK_MS 1000

/* ---- the terminal, given back as it was ---- */

static struct termios before;
static char goodbye[128]; /* what makes the cursor visible and the old screen come back */

/* Async-signal-safe, unlike endwin(). */
static void
on_crash(int sig)
{
	ssize_t written = write(STDOUT_FILENO, goodbye, strlen(goodbye));

	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void
remember(const char *capability)
{
	const char *s = tigetstr(capability);
	size_t n = strlen(goodbye);

	if (s != NULL && s != (const char *)-1)
		snprintf(goodbye + n, sizeof(goodbye) - n, "%s", s);
}

static bool
begin(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGILL,  SIGABRT,
				       SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGTERM };
	size_t i;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before)) {
		say(NULL, "top: needs a terminal; without one: list, show, log -f");
		return false;
	}
	if (newterm(NULL, stdout, stdin) == NULL) {
		say(NULL, "top: this terminal (TERM=%s) is not known", getenv("TERM"));
		return false;
	}
	remember("cnorm");
	remember("sgr0");
	remember("rmcup");
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], on_crash);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	return true;
}

/* ---- what is looked at ---- */

static void
forget_rows(struct screen *v)
{
	size_t i;

	for (i = 0; i < v->rows; i++) {
		free(v->row[i].name);
		free(v->row[i].s);
	}
	v->rows = 0;
}

static struct row *
new_row(struct screen *v)
{
	if (v->rows == v->room) {
		size_t room = v->room * 2 + 64;
		struct row *more = reallocarray(v->row, room, sizeof(*more));
		if (more == NULL)
			return NULL;
		v->row = more;
		v->room = room;
	}
	memset(&v->row[v->rows], 0, sizeof(v->row[0]));
	return &v->row[v->rows++];
}

static enum sort sorted_by;

static int
compare(const void *a, const void *b)
{
	const struct row *ra = a, *rb = b;
	const struct flk_entry *x = ra->entry, *y = rb->entry;
	int by_turn = (x->ticket > y->ticket) - (x->ticket < y->ticket);

	if (x->holds != y->holds)
		return x->holds ? -1 : 1;
	switch (sorted_by) {
	case BY_TIME:
		return x->since_s != y->since_s ? (x->since_s < y->since_s ? 1 : -1) : by_turn;
	case BY_WEIGHT:
		return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : by_turn;
	case BY_PID:
		return x->pid != y->pid ? (x->pid > y->pid ? 1 : -1) : by_turn;
	default:
		return by_turn;
	}
}

static void
rows_of_one(struct screen *v)
{
	const struct flk_snapshot *s = v->s;
	double *wait_s = calloc((size_t)s->waiters + 1, sizeof(*wait_s));
	uint32_t i;

	if (wait_s != NULL)
		estimate(s, wait_s);
	for (i = 0; i < s->holders + s->waiters; i++) {
		struct row *r = new_row(v);
		if (r == NULL)
			break;
		r->entry = &s->entry[i];
		r->position = i < s->holders ? 0 : i - s->holders + 1;
		r->starts_in_s = i < s->holders || wait_s == NULL ? -1 : wait_s[i - s->holders];
	}
	free(wait_s);
	sorted_by = v->sort;
	qsort(v->row, v->rows, sizeof(*v->row), compare);
}

static int
add_limiter(const struct ctl *c, const char *name, const char *path, struct flk *f, int error,
	    void *ctx)
{
	struct screen *v = ctx;
	struct row *r;
	struct flk_snapshot *s = NULL;

	(void)c;
	(void)path;
	if (error == 0)
		error = flk_snapshot(f, &s);
	if (error == -ENOENT || error == -FLK_GONE || (r = new_row(v)) == NULL) {
		free(s);
		return DONE;
	}
	r->name = strdup(name);
	r->s = s;
	r->error = error;
	return DONE;
}

/* Grants per second, over the looks of the last few seconds. */
static void
measure(struct screen *v)
{
	static uint64_t granted, since;
	uint64_t now = now_ns();

	if (since != 0 && now - since < 2 * SECOND)
		return;
	v->per_s = since == 0 || v->s->granted < granted
		       ? -1
		       : (double)(v->s->granted - granted) * 1e9 / (double)(now - since);
	granted = v->s->granted;
	since = now;
}

static void
look(const struct ctl *c, struct screen *v, const char *attach)
{
	struct flk *f = NULL;
	int error;

	forget_rows(v);
	free(v->s);
	v->s = NULL;
	if (v->name == NULL) {
		for_each(c, add_limiter, v);
	} else {
		const struct flk_options existing = { .existing = true };
		if ((error = flk_attach(&f, attach, &existing)) == 0)
			error = flk_snapshot(f, &v->s);
		if (error != 0)
			snprintf(v->message, sizeof(v->message), "%s: %s", v->name,
				 error == -ENOENT ? "there is no such limiter (yet)"
						  : flk_strerror(error));
		flk_detach(f);
		if (v->s != NULL) {
			measure(v);
			rows_of_one(v);
		}
	}
	if (v->chosen >= v->rows)
		v->chosen = v->rows > 0 ? v->rows - 1 : 0;
}

/* ---- keys ---- */

/* The limiter that a key is about, opened; and how things stand there. */
static struct flk *
subject(struct screen *v, const char *attach, const struct flk_snapshot **s)
{
	const struct flk_options existing = { .existing = true };
	const char *name = attach;
	struct flk *f = NULL;
	int error;

	*s = v->s;
	if (v->name == NULL) {
		if (v->chosen >= v->rows)
			return NULL;
		name = v->row[v->chosen].name;
		*s = v->row[v->chosen].s;
	}
	if (*s == NULL)
		return NULL;
	error = flk_attach(&f, name, &existing);
	if (error != 0)
		snprintf(v->message, sizeof(v->message), "%s", flk_strerror(error));
	return f;
}

static int
change_limit(struct screen *v, struct flk *f)
{
	char answer[32] = "";
	int64_t to;

	if (!draw_ask("limit (N, N%, auto): ", answer, sizeof(answer)))
		return 0;
	if (parse_limit(answer, &to))
		return flk_override(f, to);
	snprintf(v->message, sizeof(v->message), "'%.20s': no number, N%% or auto", answer);
	return 0;
}

static int
cancel_chosen(struct screen *v, struct flk *f)
{
	const struct flk_entry *e = v->name != NULL && v->rows > 0 ? v->row[v->chosen].entry : NULL;
	char question[100], answer[8] = "";

	if (e == NULL)
		return 0;
	if (e->holds)
		snprintf(question, sizeof(question), "send TERM to pid %u, which runs (y/n)? ",
			 e->pid);
	else
		snprintf(question, sizeof(question),
			 "take ticket %" PRIu64 " out of the line (y/n)? ", e->ticket);
	if (!draw_ask(question, answer, sizeof(answer)) || answer[0] != 'y')
		return 0;
	return e->holds ? signal_holder(f, e, SIGTERM) : flk_evict(f, e->ticket);
}

static void
act(struct screen *v, const char *attach, int key)
{
	const struct flk_snapshot *s = NULL;
	struct flk *f = subject(v, attach, &s);
	int error = 0;

	if (f == NULL)
		return;
	if (key == 'p')
		error = s->paused ? flk_resume(f) : flk_pause(f);
	else if (key == 'o')
		error = s->closed ? flk_reopen(f) : flk_close(f);
	else if (key == 'l')
		error = change_limit(v, f);
	else if (key == 'c')
		error = cancel_chosen(v, f);
	if (error != 0)
		snprintf(v->message, sizeof(v->message), "%s",
			 error == -ENOENT ? "it has just ended" : flk_strerror(error));
	flk_detach(f);
}

static void
move_to(struct screen *v, long row)
{
	size_t height = draw_height(v);

	if (row >= (long)v->rows)
		row = (long)v->rows - 1;
	v->chosen = row < 0 ? 0 : (size_t)row;
	if (v->chosen < v->top)
		v->top = v->chosen;
	if (v->chosen >= v->top + height)
		v->top = v->chosen - height + 1;
}

/* False: it is the end. */
static bool
take_key(struct screen *v, const char *attach, int key)
{
	long row = (long)v->chosen, page = (long)draw_height(v);

	v->message[0] = '\0';
	switch (key) {
	case 'q':
		return false;
	case KEY_UP:
	case 'k':
		row--;
		break;
	case KEY_DOWN:
	case 'j':
		row++;
		break;
	case KEY_PPAGE:
		row -= page;
		break;
	case KEY_NPAGE:
	case ' ':
		row += page;
		break;
	case KEY_HOME:
	case 'g':
		row = 0;
		break;
	case KEY_END:
	case 'G':
		row = (long)v->rows;
		break;
	case 's':
		v->sort = (v->sort + 1) % SORTS;
		break;
	case 'p':
	case 'o':
	case 'l':
	case 'c':
		act(v, attach, key);
		break;
	default:
		break;
	}
	move_to(v, row);
	return true;
}

/* False: it was left for where it was entered from. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): from all limiters into one, and no deeper */
watch(const struct ctl *c, const char *name, const char *attach)
{
	struct screen v = { .name = name, .per_s = -1 };
	bool entered = name != NULL && c->words + c->files == 0, quits = true;
	int key;

	do {
		look(c, &v, attach);
		move_to(&v, (long)v.chosen);
		draw(&v);
		timeout(LOOK_MS);
		key = getch();
		if (key == ERR)
			continue;
		if (name == NULL && (key == '\n' || key == KEY_ENTER || key == KEY_RIGHT)) {
			if (v.chosen < v.rows && v.row[v.chosen].s != NULL) {
				char chosen[FLK_NAME_MAX + 1];
				snprintf(chosen, sizeof(chosen), "%s", v.row[v.chosen].name);
				if (watch(c, chosen, chosen))
					break;
			}
			continue;
		}
		if (entered && (key == KEY_LEFT || key == 27)) {
			quits = false;
			break;
		}
	} while (key == ERR || take_key(&v, attach, key));
	forget_rows(&v);
	free(v.row);
	free(v.s);
	return quits;
}

int
top(const struct ctl *c)
{
	char room[4096];
	const char *attach = NULL;
	struct flk *f;
	int status;

	if (c->words + c->files > 0) {
		if ((f = open_only(c, &status)) == NULL)
			return status;
		snprintf(room, sizeof(room), "%s", flk_path(f));
		attach = room;
		if (c->files == 0)
			attach = c->word[0];
		flk_detach(f);
	}
	if (!begin())
		return FAILED;
	watch(c, attach != NULL ? name_of(c) : NULL, attach);
	endwin();
	return DONE;
}

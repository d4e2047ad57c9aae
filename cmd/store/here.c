#include "here.h"

#include <errno.h>
#include <stdlib.h>

struct here {
	struct flk *limiter;
	uint32_t limit;
};

struct here_taker {
	struct flk_taker *taker;
	uint32_t limit;
};

int
here_open(struct here **h, const char *name, uint32_t limit, const struct flk_options *options)
{
	struct flk_options ours = { .mode = 0 };
	struct here *new = malloc(sizeof(*new));
	int error = -ENOMEM;

	if (new == NULL)
		return error;
	new->limit = limit;
	if (options != NULL) {
		ours.stuck = options->stuck;
		ours.inside = options->inside;
		ours.context = options->context;
	}
	if ((error = flk_attach(&new->limiter, name, &ours)) != 0) {
		free(new);
		return error;
	}
	*h = new;
	return 0;
}

void
here_close(struct here *h)
{
	if (h == NULL)
		return;
	flk_detach(h->limiter);
	free(h);
}

struct here_taker *
here_taker_new(struct here *h)
{
	struct here_taker *t = malloc(sizeof(*t));

	if (t == NULL)
		return NULL;
	t->limit = h->limit;
	if (flk_taker_new(&t->taker, h->limiter) == 0)
		return t;
	free(t);
	return NULL;
}

void
here_taker_free(struct here_taker *t)
{
	if (t == NULL)
		return;
	flk_taker_free(t->taker);
	free(t);
}

static struct flk_request
request(const struct here_taker *t, const struct engine_want *want)
{
	return (struct flk_request){ .weight = want->weight,
				     .limit = t->limit,
				     .command = want->command,
				     .role = want->role };
}

int
here_enqueue(struct here_taker *t, const struct engine_want *want)
{
	struct flk_request r = request(t, want);

	return flk_enqueue(t->taker, &r);
}

int
here_try(struct here_taker *t, const struct engine_want *want)
{
	struct flk_request r = request(t, want);

	return flk_try(t->taker, &r);
}

int
here_wait(struct here_taker *t, const struct timespec *deadline, const sigset_t *mask)
{
	return flk_wait(t->taker, deadline, mask);
}

void
here_cancel(struct here_taker *t)
{
	flk_cancel(t->taker);
}

void
here_interrupt(struct here_taker *t)
{
	flk_interrupt(t->taker);
}

void
here_leave(struct here_taker *t)
{
	flk_leave(t->taker);
}

int
here_guard(struct here_taker *t)
{
	int fd, error = flk_guard(t->taker, &fd);

	return error != 0 ? error : fd;
}

void
here_evictor(const struct here_taker *t, pid_t *pid, uid_t *uid)
{
	flk_evictor(t->taker, pid, uid);
}

int
here_place(struct here_taker *t, struct flk_place *place)
{
	return flk_place(t->taker, place);
}

const char *
here_strerror(int code)
{
	return flk_strerror(code);
}

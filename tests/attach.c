/*
 * attach.c - opening a limiter in a program that has threads.
 */
#include "common.h"

#include <grp.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SMALL_STACK (32 * 1024)
#define ABYSS       (1024 * 1024)

static int
open_and_close(const char *path)
{
	struct flk *f;
	int error = flk_attach(&f, path, NULL);

	if (error == 0)
		flk_detach(f);
	return error;
}

/* ---- a small stack ---- */

struct errand {
	const char *path;
	int result;
};

static void *
run_errand(void *arg)
{
	struct errand *e = arg;

	e->result = open_and_close(e->path);
	return NULL;
}

/* Below the stack nothing can be touched for a megabyte. */
static int
attach_on_small_stack(const char *path)
{
	long least = sysconf(_SC_THREAD_STACK_MIN);
	size_t size = least > SMALL_STACK / 2 ? (size_t)least + SMALL_STACK / 2 : SMALL_STACK;
	char *area = mmap(NULL, ABYSS + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct errand e = { path, 1 };
	pthread_attr_t attr;
	pthread_t thread;

	if (area == MAP_FAILED || mprotect(area + ABYSS, size, PROT_READ | PROT_WRITE) == -1)
		tap_bail("no memory for a stack");
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, area + ABYSS, size) != 0 ||
	    pthread_create(&thread, &attr, run_errand, &e) != 0)
		tap_bail("no thread with a stack of %zu bytes", size);
	pthread_attr_destroy(&attr);
	pthread_join(thread, NULL);
	munmap(area, ABYSS + size);
	return e.result;
}

static void
test_small_stack(void)
{
	struct flk *f = fresh(1);
	const char *path = flk_path(f);

	is(attach_on_small_stack(path), 0, "a thread with a small stack attaches");
	if (geteuid() != 0) {
		tap_skip("only root can give files away");
	} else {
		if (chown(path, 12345, 54321) != 0 || chmod(path, 0660) != 0)
			tap_bail("%s", path);
		if (setgroups(2, (gid_t[]){ 12345, 67890 }) != 0)
			tap_bail("setgroups");
		is(attach_on_small_stack(path), -FLK_FOREIGN,
		   "and looks through its groups for another user's file");
		if (setgroups(3, (gid_t[]){ 12345, 54321, 67890 }) != 0)
			tap_bail("setgroups");
		is(attach_on_small_stack(path), 0, "of which one may write it");
	}
	flk_detach(f);
}

int
main(void)
{
	begin(60);
	test_small_stack();
	return tap_done();
}

/* SPDX-License-Identifier: ISC */
/*
 * chaos.c - some 240 takers at once on four limiters: wrappers and programs of the library, of every
 * weight and option, of one limiter and of two.  Meanwhile limits are raised and lowered, files are
 * removed, waiters are cancelled, orders are given to all limiters of a directory, readers come and go,
 * and wrappers, commands, groups and crowds are killed, stopped and ended.
 *
 *	chaos.t [SECONDS [SEED [STALL_MS]]]		SEED 0: any
 *
 * The witness is the log that the commands write (chaos.h).  The judge is another program,
 * judge.t, which knows nothing but that log and can be run on it again.  A seed gives the
 * same choices again, but not the same timing.
 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../helpers/scratch.h"
#include "../helpers/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SECONDS 10
#else
#define SECONDS 30
#endif
#define STALL_MS     2000 /* on a machine that does other things as well */
#define TICK_NS      500000
#define HUNG_NS      UINT64_C(20000000000)
#define HEARTBEAT_NS 5000000

static char dir[SCRATCH], log_path[SCRATCH + 8], self_path[400];

static void
sleep_ns(long ns)
{
	struct timespec span = { .tv_nsec = ns };

	nanosleep(&span, NULL);
}

/* How late a thread wakes that has nothing to do with any limiter. */
static void *
heartbeat(void *arg)
{
	uint64_t next = chaos_now(), now;

	(void)arg;
	for (;;) {
		struct timespec at;
		next += HEARTBEAT_NS;
		at = (struct timespec){ .tv_sec = (time_t)(next / 1000000000u),
					.tv_nsec = (long)(next % 1000000000u) };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		now = chaos_now();
		if (now - next > 1000000)
			chaos_say("B %" PRIu64 " %" PRIu64, next, now);
		if (now > next)
			next = now;
	}
	return NULL;
}

static void
end_everything(void)
{
	unsigned i;

	for (i = 0; i < AT_ONCE; i++)
		if (taker[i].pid > 0)
			kill(taker[i].pid, SIGKILL);
}

/* The program that judges is built beside this one. */
static bool
judge(unsigned stall_ms)
{
	char command[1200], line[400];
	FILE *in;

	snprintf(command, sizeof(command), "%.*s/judge.t %s %u",
		 (int)(strrchr(self_path, '/') - self_path), self_path, log_path, stall_ms);
	in = popen(command, "r");
	if (in == NULL)
		tap_bail("%s", command);
	while (fgets(line, sizeof(line), in) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		tap_note("%s", line);
	}
	return pclose(in) == 0;
}

/* What a storm of so many seconds has at least, to be one. */
static bool
launched_enough(unsigned seconds)
{
	return last_id >= seconds * 20;
}

static bool
harmed_enough(unsigned seconds)
{
	return harm_done >= seconds * 5;
}

static bool
operated_enough(unsigned seconds)
{
	return operator_acts[CANCELLED] >= seconds && operator_acts[REMOVED] > 0 &&
	       operator_acts[REFUSED] >= seconds && operator_acts[PACED] > 0 &&
	       operator_acts[GATED] > 0 && operator_acts[TURNED] > 0;
}

static bool
interrupted_enough(unsigned seconds)
{
	return takers_interrupted >= seconds;
}

static bool
held_two_enough(unsigned seconds)
{
	return takers_of_two >= seconds;
}

/* Lasts so long, and on a busy machine until enough has happened, but not for ever. */
static void
storm(unsigned seconds)
{
	uint64_t last = chaos_now(), now;
	uint64_t until = last + seconds * UINT64_C(1000000000);
	uint64_t latest = last + seconds * UINT64_C(60000000000);

	while ((now = chaos_now()) < until ||
	       (now < latest &&
		!(launched_enough(seconds) && harmed_enough(seconds) && operated_enough(seconds) &&
		  interrupted_enough(seconds) && held_two_enough(seconds)))) {
		double passed = (double)(now - last) / 1e9;
		last = now;
		takers_reap();
		takers_follow();
		harm_planned(now);
		harm_some(passed < 0.02 ? passed : 0.02);
		limiters_steer(passed < 0.02 ? passed : 0.02);
		operator_acts_for(passed < 0.02 ? passed : 0.02);
		orders_act_for(passed < 0.02 ? passed : 0.02);
		limiters_inspect(false);
		takers_launch();
		machine_beats();
		sleep_ns(TICK_NS);
	}
}

/*
 * Each taker that is left gets its permit and ends, and so do the orphans, which are our children by
 * now.  Returns how many did not.
 */
static unsigned
calm(void)
{
	uint64_t moved = chaos_now(), next_cont = 0, now;
	unsigned left = takers_left(), n;

	limiters_calm();
	operator_calm();
	orders_calm();
	while ((now = chaos_now()) - moved < HUNG_NS) {
		harm_planned(now);
		takers_follow();
		if (takers_reap())
			return 0;
		if (now > next_cont) {
			harm_cont_all();
			next_cont = now + 50000000;
		}
		n = takers_left();
		if (n != left)
			moved = now;
		left = n;
		sleep_ns(TICK_NS);
	}
	harm_end_all();
	for (now = chaos_now(); chaos_now() - now < 2000000000u && !takers_reap();)
		sleep_ns(TICK_NS);
	return left > 0 ? left : 1;
}

static void
prepare(unsigned seed)
{
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	scratch_dir(dir);
	if (readlink("/proc/self/exe", self_path, sizeof(self_path) - 1) == -1)
		tap_bail("%s", strerror(errno));
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	fd = open(log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd == -1 || dup2(fd, LOG_FD) == -1)
		tap_bail("%s: %s", log_path, strerror(errno));
	close(fd);
	srand(seed);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	/* Its helper is a child of the command with the command's descriptors. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

static void
out_of_time(int sig)
{
	static const char text[] = "Bail out! out of time\n";
	ssize_t n = write(STDOUT_FILENO, text, sizeof(text) - 1);

	(void)n;
	(void)sig;
	end_everything();
	_exit(99);
}

static void
clean_up(void)
{
	unsigned i;

	for (i = 0; i < LIMITERS; i++)
		unlink(limiter[i].path);
	orders_clean_up();
	unlink(log_path);
	rmdir(dir);
}

int
main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : SECONDS, hung;
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	unsigned stall_ms = argc > 3 ? (unsigned)atoi(argv[3]) : STALL_MS;
	pthread_t thread;
	bool well = true;
	int status = chaos_command(argc, argv);

	if (status != -1)
		return status;
	if (getenv("FLOCKLIMIT") == NULL)
		tap_bail("FLOCKLIMIT is to be the program that is tested");
	if (seed == 0)
		seed = (unsigned)(chaos_now() / 1000 % 1000000000) + 1;
	prepare(seed);
	tap_note("seed %u, %u s", seed, seconds);
	signal(SIGALRM, out_of_time);
	alarm(seconds + 1800);
	takers_begin(self_path, log_path);
	limiters_begin(dir);
	operator_begin(self_path);
	orders_begin(dir);
	if (pthread_create(&thread, NULL, heartbeat, NULL) != 0)
		tap_bail("pthread_create");

	storm(seconds);
	hung = calm();
	limiters_inspect(true);
	chaos_say("Z %" PRIu64 " %u", chaos_now(), hung);

	well &= ok(hung == 0, "every taker ends");
	well &= ok(launched_enough(seconds), "%" PRIu64 " takers were launched", last_id);
	well &= ok(harmed_enough(seconds), "%u times one was killed, ended or stopped", harm_done);
	well &=
	    ok(operated_enough(seconds),
	       "%u waiters were cancelled, %u limiters removed and %u not; %u checks, %u readers, "
	       "%u paces, %u gates, %u times fair or not",
	       operator_acts[CANCELLED], operator_acts[REMOVED], operator_acts[REFUSED],
	       operator_acts[CHECKED], operator_acts[READ], operator_acts[PACED],
	       operator_acts[GATED], operator_acts[TURNED]);
	if (orders_possible())
		well &=
		    ok(orders_given > 0, "%u orders to all limiters were given, and %u were killed",
		       orders_given, orders_killed);
	else
		tap_skip("orders to all limiters are flocklimitctl's, which is not built");
	well &= ok(interrupted_enough(seconds),
		   "%u takers were interrupted in the line, and waited on", takers_interrupted);
	well &= ok(held_two_enough(seconds), "%u commands ran under permits of two limiters",
		   takers_of_two);
	well &= ok(judge(stall_ms), "no law was broken");
	if (well) {
		clean_up();
	} else {
		tap_note("the log is kept; to judge it again: %.*s/judge.t %s %u",
			 (int)(strrchr(self_path, '/') - self_path), self_path, log_path, stall_ms);
		tap_note("to run it again: FLOCKLIMIT=%s %s %u %u", getenv("FLOCKLIMIT"), self_path,
			 seconds, seed);
	}
	return tap_done();
}

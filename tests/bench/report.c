/* SPDX-License-Identifier: ISC */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "world.h"

struct ticks {
	double busy, steal;
};

static struct ticks at_start;

static struct ticks
ticks_now(void)
{
	double user, nice_, system, idle, io, irq, soft, steal;
	double per_second = (double)sysconf(_SC_CLK_TCK);
	struct ticks t = { 0, 0 };
	FILE *f = fopen("/proc/stat", "re");

	if (f == NULL)
		return t;
	if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice_, &system, &idle, &io,
		   &irq, &soft, &steal) == 8) {
		t.busy = (user + nice_ + system + irq + soft) / per_second;
		t.steal = steal / per_second;
	}
	fclose(f);
	return t;
}

static void
cpu_model(char *text, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(text, size, "unknown");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(text, size, "%s", strchr(line, ':') + 2);
			break;
		}
	if (f != NULL)
		fclose(f);
}

void
report_machine(void)
{
	char model[128], date[64];
	time_t now = time(NULL);
	double load[1] = { 0 };
	struct utsname u;
	struct tm tm;

	uname(&u);
	cpu_model(model, sizeof(model));
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &tm));
	getloadavg(load, 1);
	fprintf(report, "%s %s %s, %ld x %s, %s, load average %.2f\n", u.sysname, u.release,
		u.machine, sysconf(_SC_NPROCESSORS_ONLN), model, date, load[0]);
	at_start = ticks_now();
}

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void
report_end(uint64_t started_ns)
{
	double span = (double)(now_ns() - started_ns) / 1e9;
	struct ticks t = ticks_now();
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	fprintf(report,
		"\nTook %.0f s. Everything else on the machine used %.0f %% of one CPU meanwhile, "
		"and the hypervisor took %.1f %% of one.\n",
		span,
		(t.busy - at_start.busy - seconds(self.ru_utime) - seconds(self.ru_stime) -
		 seconds(children.ru_utime) - seconds(children.ru_stime)) /
		    span * 100,
		(t.steal - at_start.steal) / span * 100);
}

void
report_head(const char *columns)
{
	const char *c;

	fprintf(report, "\n| ");
	for (c = columns; *c != '\0'; c++)
		if (*c == '|')
			fprintf(report, " | ");
		else
			fputc(*c, report);
	fprintf(report, " |\n|---|");
	for (c = columns; *c != '\0'; c++)
		if (*c == '|')
			fprintf(report, "--:|");
	fprintf(report, "\n");
}

const char *
report_goal(double value, double goal)
{
	static char text[64];

	if (value <= 0)
		snprintf(text, sizeof(text), "- | - | -");
	else if (goal <= 0)
		snprintf(text, sizeof(text), "%.2f | - | -", value);
	else
		snprintf(text, sizeof(text), "%.2f | %.2f | %s", value, goal,
			 value <= goal ? "yes" : "no");
	return text;
}

void
report_times(const char *label, struct samples *us)
{
	if (us->count > 0)
		fprintf(report, "| %s | %.0f | %.0f to %.0f | %zu |\n", label, samples_median(us),
			samples_quantile(us, 0.25), samples_quantile(us, 0.75), us->count);
}

void
report_ratio(const char *of_label, struct samples *of, const char *to_label, struct samples *to,
	     double goal)
{
	double below = samples_median(to);

	if (below > 0)
		fprintf(report, "| %s / %s | %s |\n", of_label, to_label,
			report_goal(samples_median(of) / below, goal));
}

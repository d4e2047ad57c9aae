/* SPDX-License-Identifier: ISC */
/*
 * scale.c - the library's hand-over: between two processes, and before a short and a long line.
 */
#include "bench.h"

#include "report.h"
#include "ring.h"
#include "samples.h"

static void
print(const char *label, struct samples *hand_over, struct samples *release, double ratio,
      double goal)
{
	fprintf(report, "| %s | %.1f | %.1f to %.1f | %.0f | %zu | %s |\n", label,
		samples_median(hand_over), samples_quantile(hand_over, 0.25),
		samples_quantile(hand_over, 0.75), samples_median(release), hand_over->count,
		report_goal(ratio, goal));
}

static const char columns[] = "calls|release to running, median, us|quartiles|in the releasing "
			      "call, median, ns|hand-overs|ratio|goal, at most|met";

static void
pair(const struct bench *b)
{
	struct samples hand[2] = { 0 }, release[2] = { 0 };
	int rounds = b->quick ? 2 : 8, i;

	for (i = 0; i < 2 * rounds; i++)
		ring_measure((i & 1) != (i / 2 & 1), false, 1, 250, &hand[(i & 1) != (i / 2 & 1)],
			     &release[(i & 1) != (i / 2 & 1)]);
	fprintf(report, "\n### 6b. The library: two processes in turn, the other one parked\n");
	report_head(columns);
	print("flk_release to flk_wait, limit 1", &hand[0], &release[0],
	      samples_median(&hand[0]) / samples_median(&hand[1]), 0);
	print("sem_post to sem_wait", &hand[1], &release[1], 0, 0);
	for (i = 0; i < 2; i++) {
		samples_free(&hand[i]);
		samples_free(&release[i]);
	}
}

static void
lines(const struct bench *b)
{
	struct samples hand[4] = { 0 }, release[4] = { 0 };
	int many = b->quick ? 2000 : 10000, rounds = b->quick ? 1 : 3, i, k;
	char label[4][64];

	for (i = 0; i < 4 * rounds; i++) {
		k = (i + i / 4) % 4;
		ring_measure(k > 1, true, k & 1 ? many : 10, 1000, &hand[k], &release[k]);
	}
	for (k = 0; k < 4; k++)
		snprintf(label[k], sizeof(label[k]), "%s, %d waiting",
			 k > 1 ? "a ring of semaphores" : "libflocklimit", k & 1 ? many : 10);
	fprintf(report, "\n### 6c. The library: a short line and a long one (threads)\n");
	report_head(columns);
	for (k = 0; k < 4; k++)
		print(label[k], &hand[k], &release[k],
		      k & 1 ? samples_median(&hand[k]) / samples_median(&hand[k - 1]) : 0, 0);
	for (k = 0; k < 4; k++) {
		samples_free(&hand[k]);
		samples_free(&release[k]);
	}
}

void
scale(const struct bench *b)
{
	pair(b);
	lines(b);
}

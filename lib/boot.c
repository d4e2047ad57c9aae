/* SPDX-License-Identifier: ISC */
/*
 * boot.c - which boot of the machine this is.
 */
#include "boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "flocklimit.h"

/*
 * This boot's id, once boot_known.  There is no mutex: a child that is forked while another thread
 * holds one would wait for it for ever.  Threads that read the id at the same time store the same.
 */
static _Atomic uint64_t boot_id[2];
static _Atomic bool boot_known;

static int
read_boot_id(unsigned char id[16])
{
	unsigned char text[64];
	int fd, digit = 0;
	ssize_t i, n;

	memset(id, 0, 16);
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return errno == EMFILE || errno == ENFILE ? -errno : -FLK_NOBOOT;
	n = read(fd, text, sizeof(text));
	close(fd);
	for (i = 0; i < n && digit < 32; i++) {
		int c = text[i], v;
		if (c >= '0' && c <= '9')
			v = c - '0';
		else if (c >= 'a' && c <= 'f')
			v = c - 'a' + 10;
		else
			continue;
		id[digit / 2] = (unsigned char)(id[digit / 2] << 4 | v);
		digit++;
	}
	return digit == 32 ? 0 : -FLK_NOBOOT;
}

/* After a failure the next call tries again, because a lack of descriptors may pass. */
int
flki_boot_learn(void)
{
	unsigned char id[16];
	uint64_t half[2];
	int error;

	if (atomic_load(&boot_known))
		return 0;
	if ((error = read_boot_id(id)) != 0)
		return error;
	memcpy(half, id, sizeof(half));
	atomic_store(&boot_id[0], half[0]);
	atomic_store(&boot_id[1], half[1]);
	atomic_store(&boot_known, true);
	return 0;
}

void
flki_boot_id(unsigned char id[16])
{
	uint64_t half[2] = { atomic_load(&boot_id[0]), atomic_load(&boot_id[1]) };

	memcpy(id, half, sizeof(half));
}

bool
flki_boot_is_this(const unsigned char id[16])
{
	unsigned char ours[16];

	if (flki_boot_learn() != 0)
		return false;
	flki_boot_id(ours);
	return memcmp(ours, id, sizeof(ours)) == 0;
}

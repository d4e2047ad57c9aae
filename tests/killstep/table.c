/* SPDX-License-Identifier: ISC */
/*
 * table.c - all operations, file by file, one after another.
 */
#include "killstep.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../helpers/scratch.h"
#include "../helpers/tap.h"
#include "filesystem.h"

static const struct {
	const struct operation *of;
	const unsigned *count;
} tables[] = {
	{ operations, &operations_count },
	{ operator_operations, &operator_operations_count },
	{ turn_operations, &turn_operations_count },
	{ interrupt_operations, &interrupt_operations_count },
	{ order_operations, &order_operations_count },
};

const struct operation *
operation(unsigned i)
{
	size_t k;

	for (k = 0; k < sizeof(tables) / sizeof(tables[0]); k++) {
		if (i < *tables[k].count)
			return &tables[k].of[i];
		i -= *tables[k].count;
	}
	return NULL;
}

unsigned
operations_in_all(void)
{
	unsigned n = 0;

	while (operation(n) != NULL)
		n++;
	return n;
}

bool
operation_is_possible(unsigned i)
{
	enum fs_kind kind;
	char dir[SCRATCH];
	int fd;

	if ((operation(i)->flags & LASTING) == 0)
		return true;
	scratch_dir(dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		tap_bail("%s", dir);
	kind = flki_fs_kind(fd);
	close(fd);
	rmdir(dir);
	return flki_fs_is_lasting(kind);
}

/* Names may have commas, and so one is looked for in the list. */
bool
operation_is_among(unsigned i, const char *list)
{
	const char *name = operation(i)->name;
	size_t n = strlen(name);
	const char *at;

	for (at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ',') && (at[n] == '\0' || at[n] == ','))
			return true;
	return false;
}

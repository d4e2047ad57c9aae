/* SPDX-License-Identifier: ISC */
#include "ledger.h"

#include <string.h>

static struct board *board;

void
ledger_begin(struct board *b)
{
	board = b;
}

bool
ledger_is_kept(void)
{
	return board != NULL;
}

static uint32_t
number(const struct ledger_row *row)
{
	return (uint32_t)(row - board->row);
}

static struct ledger_row *
find_free(void)
{
	uint32_t i;

	for (i = 0; i < board->rows; i++)
		if (board->row[i].self[0] == '\0')
			return &board->row[i];
	return board->rows < BOARD_CELLS ? &board->row[board->rows++] : NULL;
}

/* If the keeper is killed in here, its successor finds the row in use, or free, but never half of one. */
struct ledger_row *
ledger_add(const struct ledger_row *row)
{
	struct ledger_row *to = board != NULL ? find_free() : NULL;

	if (to == NULL)
		return NULL;
	*to = *row;
	to->self[0] = '\0';
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(to->self + 1, row->self + 1, STORE_SELF - 1);
	atomic_signal_fence(memory_order_seq_cst);
	to->self[0] = row->self[0];
	return to;
}

void
ledger_remove(struct ledger_row *row)
{
	if (row == NULL)
		return;
	row->self[0] = '\0';
	deputy_drop(number(row));
}

void
ledger_keep(const struct ledger_row *row, enum deputy_kind kind, int fd)
{
	if (row != NULL && fd != -1)
		deputy_keep(number(row), kind, fd);
}

int
ledger_give(const struct ledger_row *row, enum deputy_kind kind)
{
	return deputy_give(number(row), kind);
}

struct ledger_row *
ledger_next(struct ledger_row *row)
{
	uint32_t i = row != NULL ? number(row) + 1 : 0;

	for (; i < board->rows; i++)
		if (board->row[i].self[0] != '\0')
			return &board->row[i];
	return NULL;
}

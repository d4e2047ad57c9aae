/* SPDX-License-Identifier: ISC */
/*
 * reader.cc - a program in C++ takes flocklimit.h as it is: a permit, a snapshot, a map.
 */
#include <flocklimit.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

namespace
{

bool
holds_and_sees(struct flk *limiter)
{
	struct flk_request want = {};
	struct flk_permit permit = {};
	struct flk_settings now = {};
	struct flk_snapshot *s = nullptr;
	struct flk_taker *me = nullptr;

	want.weight = 2;
	want.command = "reader";
	if (flk_taker_new(&me, limiter) != 0 || flk_acquire_for(me, &want, 1000) != 0)
		return false;
	bool good = flk_permit(me, &permit) == 0 && permit.weight == 2 && permit.limit == 3;
	if (flk_snapshot(limiter, &s) == 0) {
		good = good && s->holders == 1 && std::strcmp(s->entry[0].command, "reader") == 0;
		std::free(s);
	}
	now.override = 5;
	good = good && flk_set(limiter, FLK_SET_OVERRIDE | FLK_SET_PAUSED, &now) == 0 &&
	       flk_get(limiter, &now) == 0 && now.override == 5;
	good = flk_release(me) == 0 && good;
	flk_taker_free(me);
	return good;
}

bool
maps(const char *name)
{
	struct flk_map_options options = {};
	struct flk_map *map = nullptr;
	int left = 3;

	options.context = &left;
	options.next = [](void *context, void **item, struct flk_request *) {
		*item = nullptr;
		return --*static_cast<int *>(context) >= 0 ? 1 : 0;
	};
	options.work = [](void *, void *, struct flk_taker *) { return 0; };
	if (flk_map_new(&map, name, &options) != 0)
		return false;
	bool good = flk_map_run(map) == 0 && left == -1;
	flk_map_free(map);
	return good;
}

} // namespace

int
main()
{
	struct flk_options options = {};
	struct flk *limiter = nullptr;

	options.limit = 3;
	int error = flk_attach(&limiter, "reader", &options);
	if (error != 0) {
		std::cerr << flk_strerror(error) << '\n';
		return 1;
	}
	bool good = holds_and_sees(limiter) && maps("reader");
	flk_detach(limiter);
	return good ? 0 : 1;
}

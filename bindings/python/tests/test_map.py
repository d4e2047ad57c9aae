# SPDX-License-Identifier: ISC
import threading

import flocklimit
import pytest
from conftest import counts, until


def test_results_come_in_the_order_of_the_items():
    gate = threading.Event()

    def work(i):
        if i == 0:
            gate.wait()
        else:
            gate.set()
        return i * i

    assert list(flocklimit.map(work, range(10), name="x", limit=2)) == [i * i for i in range(10)]
    assert counts("x") == (0, 0)


def test_several_iterables_and_nothing():
    assert list(flocklimit.map(pow, [2, 3], [5, 2], name="x", limit=1)) == [32, 9]
    assert list(flocklimit.map(pow, [], name="x", limit=1)) == []


def test_it_waits_with_one_item_at_a_time():
    with flocklimit.permit("x", limit=1):
        results = flocklimit.map(str, range(5), name="x", limit=1)
        thread = threading.Thread(target=lambda: list(results))
        thread.start()
        until(lambda: counts("x") == (1, 1))
    thread.join()


def test_a_failure_comes_in_its_place_and_ends_it():
    def work(i):
        if i == 1:
            raise ValueError(i)
        return i

    results = flocklimit.map(work, iter(range(1000000)), name="x", limit=1)
    assert next(results) == 0
    with pytest.raises(ValueError):
        next(results)
    assert list(results) == []
    assert counts("x") == (0, 0)


def test_no_permit_is_a_failure_too():
    with flocklimit.permit("x", limit=1):
        with pytest.raises(flocklimit.TimedOut):
            list(flocklimit.map(str, range(3), name="x", limit=1, timeout=0))


def test_a_closed_map_leaves_the_line():
    results = flocklimit.map(str, range(3), name="x", limit=1)
    assert next(results) == "0"
    with flocklimit.permit("x", limit=1):
        results.close()
        assert counts("x") == (1, 0)

# SPDX-License-Identifier: ISC
"""A function for each item, each call under a permit."""

import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable, Iterable, Iterator, TypeVar

from ._errors import Cancelled
from ._permit import permit

R = TypeVar("R")

_END = None


class _Map:
    """Waits in the line with one item at a time; when it has its permit, a thread calls the function."""

    def __init__(self, function: Callable[..., R], items: Iterator[Any], name: str, options: Any) -> None:
        self.function, self.items, self.name, self.options = function, items, name, options
        self.results: "queue.SimpleQueue[Any]" = queue.SimpleQueue()  # a Future for each item
        self.lock = threading.Lock()  # guards stopped and waiting
        self.stopped = False
        self.waiting: Any = None
        self.workers: "list[threading.Thread]" = []

    def lead(self) -> None:
        try:
            for arguments in self.items:
                mine = permit(self.name, **self.options)
                with self.lock:
                    if self.stopped:
                        break
                    self.waiting = mine
                mine.acquire()
                future: "Future[R]" = Future()
                worker = threading.Thread(target=self.work, args=(mine, future, arguments), daemon=True)
                self.workers = [w for w in self.workers if w.is_alive()] + [worker]
                worker.start()
                self.results.put(future)
        except Cancelled:
            pass
        except BaseException as wrong:
            failed: "Future[R]" = Future()
            failed.set_exception(wrong)
            self.results.put(failed)
        self.results.put(_END)

    def work(self, mine: Any, future: "Future[R]", arguments: Any) -> None:
        try:
            future.set_result(self.function(*arguments))
        except BaseException as wrong:
            future.set_exception(wrong)
        finally:
            mine.release()

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            if self.waiting is not None:
                self.waiting.cancel()


def map(function: Callable[..., R], *iterables: Iterable[Any], name: str, **options: Any) -> Iterator[R]:
    """function(item) for each item, as the built-in map(), each in a thread under a permit of its own.

    The options are those of permit().  Results come in the order of the items.  An exception of a
    call comes in the place of its result; then, or when the iterator is closed, no more items begin,
    and those that run are waited for.
    """
    m = _Map(function, zip(*iterables), name, options)
    leader = threading.Thread(target=m.lead, name=f"flocklimit.map {name}", daemon=True)
    leader.start()
    try:
        while (future := m.results.get()) is not _END:
            yield future.result()
    finally:
        m.stop()
        leader.join()
        for worker in m.workers:
            worker.join()

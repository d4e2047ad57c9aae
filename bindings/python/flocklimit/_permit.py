# SPDX-License-Identifier: ISC
"""A permit, and the thread that has it.

A taker of the library belongs to the thread that made it, and its permit ends with that thread.  So
each permit has a thread of its own, which waits in the line, and then for the end of the permit.  The
threads and tasks of the program wait for this thread, in a way that Python can interrupt: a signal
or a cancelled task takes the waiter out of the line.
"""

import asyncio
import os
import queue
import sys
import threading
from ctypes import byref, c_int, c_void_p
from typing import Any, Callable, Dict, Iterable, Optional, Tuple, Union

from . import _library
from ._errors import error
from ._library import Held, Limiter, Request, lib

_END = None  # of the requests to a permit's thread


def _units(limit: Union[int, str, None]) -> int:
    """A number, or "50%" of the CPUs; 0: as the limiter has it."""
    if limit is None:
        return 0
    if isinstance(limit, str) and limit.endswith("%"):
        return int(lib().flk_cpus(int(limit[:-1])))
    return int(limit)


def _set(bits: int) -> Tuple[int, ...]:
    return tuple(bit for bit in range(64) if bits >> bit & 1)


class Permit:
    """As permit() makes it: it is held inside of a `with` block, or from acquire() to release().

    While it is held, these say what flocklimit(1) tells a command: `ticket`, `weight`, `limit`,
    `seat`, `seats`, `fence`.  `joined`: it is the permit that this process runs under already.
    """

    ticket: int = 0
    weight: int = 0
    limit: int = 0
    seat: int = 0
    seats: Tuple[int, ...] = ()
    fence: int = 0
    joined: bool = False

    def __init__(self, name: str, request: Request, mode: int, timeout: Optional[float], join: bool) -> None:
        self.name = name
        self._request = request
        self._mode = mode
        self._ms = -1 if timeout is None else max(0, round(timeout * 1000))
        self._join = join
        self._lock = threading.Lock()  # guards _taker, _cancelled, _thread
        self._taker: Optional[c_void_p] = None
        self._cancelled = False
        self._thread: Optional[threading.Thread] = None
        self._pid = 0
        self._requests: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
        self._link = ""

    # ---- the thread ----

    def _live(self, begun: Callable[[int], None]) -> None:
        """Calls begun() once, with 0 when the permit is held, or with a code."""
        code = -_library.GONE  # an idle limiter may be removed at any time: begin anew
        while code == -_library.GONE:
            code = self._live_in(Limiter(self.name, self._mode), begun)
        if code != 0:
            begun(code)

    def _live_in(self, limiter: Limiter, begun: Callable[[int], None]) -> int:
        taker = c_void_p()
        code = limiter.code
        try:
            if code == 0 and self._joins(limiter):
                begun(0)
                return 0
            code = code or lib().flk_taker_new(byref(taker), limiter.pointer)
            code = code or self._wait(taker)
            if code == 0:
                self._note(limiter, taker)
                begun(0)
                while (request := self._requests.get()) is not _END:
                    request(taker)
        finally:
            with self._lock:
                self._taker = None
            if taker:
                lib().flk_taker_free(taker)
            limiter.close()
        return int(code)

    def _joins(self, limiter: Limiter) -> bool:
        held = limiter.under() if self._join else None
        if held is None:
            return False
        self._describe(held)
        self.joined = True
        return True

    def _wait(self, taker: c_void_p) -> int:
        with self._lock:
            self._taker = taker
            if self._cancelled:
                return -_library.CANCELLED
        return int(lib().flk_acquire_for(taker, byref(self._request), self._ms))

    def _note(self, limiter: Limiter, taker: c_void_p) -> None:
        held = Held()
        lib().flk_permit(taker, byref(held))
        self._describe(held)
        self._link = f"{lib().flk_identity(limiter.pointer):x}:{lib().flk_slot(taker):x}:{held.ticket:x}"

    def _describe(self, held: Held) -> None:
        self.ticket, self.weight, self.limit = held.ticket, held.weight, held.limit
        self.seat, self.seats, self.fence = held.seat, _set(held.seats), held.fence

    # ---- its beginning ----

    def _start(self, begun: Callable[[int], None]) -> bool:
        """False: there is no limiter, and so nothing to wait for."""
        if os.environ.get("FLOCKLIMIT") == "off":
            self.weight = self._request.weight
            return False
        lib()  # without a library this fails, and not the thread
        with self._lock:
            if self._thread is not None:
                raise RuntimeError(f"{self.name}: this permit is in use: make another")
            self._cancelled = False
            self._thread = threading.Thread(
                target=self._live, args=(begun,), name=f"flocklimit {self.name}", daemon=True
            )
        self._pid = os.getpid()
        self._requests = queue.SimpleQueue()
        self._thread.start()
        return True

    def _begun(self, code: int) -> None:
        if code != 0 or self.joined:
            self._finish()
        if code != 0:
            raise error(self.name, code)

    def _finish(self) -> None:
        """Without a permit, or after its end."""
        thread = self._thread
        if thread is not None:
            thread.join()
        self._thread = None

    def cancel(self) -> None:
        """From any thread: ends the wait, which raises Cancelled.  What is held stays held."""
        with self._lock:
            self._cancelled = True
            if self._taker is not None:
                lib().flk_cancel(self._taker)

    def acquire(self) -> "Permit":
        """Waits for the permit; raises Error without one."""
        done = threading.Event()
        result = []

        def begun(code: int) -> None:
            result.append(code)
            done.set()

        if not self._start(begun):
            return self
        try:
            done.wait()
        except BaseException:  # ^C
            self.cancel()
            self.release()
            raise
        self._begun(result[0])
        return self

    def release(self) -> None:
        """Ends the permit."""
        if self._thread is None:
            return
        if self._pid != os.getpid():
            raise RuntimeError(f"{self.name}: the permit is that of process {self._pid}, not of this one")
        self._requests.put(_END)
        self._finish()

    def __enter__(self) -> "Permit":
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        if self._pid in (0, os.getpid()):
            self.release()

    async def __aenter__(self) -> "Permit":
        loop = asyncio.get_running_loop()
        result: "asyncio.Future[int]" = loop.create_future()

        def begun(code: int) -> None:
            loop.call_soon_threadsafe(result.set_result, code)

        if not self._start(begun):
            return self
        try:
            self._begun(await asyncio.shield(result))
        except asyncio.CancelledError:
            self.cancel()
            while not result.done():
                try:
                    await asyncio.shield(result)
                except asyncio.CancelledError:
                    pass
            self.release()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    # ---- for the processes that it starts ----

    def fileno(self) -> int:
        """A descriptor: while a child has it, and after the death of this process, the permit lasts.

        subprocess.run(command, env=p.environ(), pass_fds=[p.fileno()])
        """
        if self._thread is None:
            raise ValueError(f"{self.name}: no permit of this process")
        answer: "queue.SimpleQueue[Tuple[int, int]]" = queue.SimpleQueue()
        fd = c_int(-1)

        def guard(taker: c_void_p) -> None:
            answer.put((lib().flk_guard(taker, byref(fd)), fd.value))

        self._requests.put(guard)
        code, number = answer.get()
        if code != 0:
            raise error(self.name, code)
        return number

    def environ(self) -> Dict[str, str]:
        """os.environ, and what flocklimit(1) would add: an inner flocklimit joins this permit."""
        env = dict(os.environ)
        if self._thread is None:
            return env
        env.update(
            FLOCKLIMIT_LIMITER=self.name,
            FLOCKLIMIT_WEIGHT=str(self.weight),
            FLOCKLIMIT_LIMIT=str(self.limit),
            FLOCKLIMIT_SEAT=str(self.seat),
            FLOCKLIMIT_TICKET=str(self.ticket),
            FLOCKLIMIT_FENCE=str(self.fence),
            FLOCKLIMIT_HELD=" ".join(filter(None, [env.get("FLOCKLIMIT_HELD"), self._link])),
        )
        env.pop("FLOCKLIMIT_SEATS", None)
        if self.seats:
            env["FLOCKLIMIT_SEATS"] = ",".join(map(str, self.seats))
        return env


def permit(
    name: str,
    *,
    limit: Union[int, str, None] = None,
    weight: int = 1,
    most: Optional[int] = None,
    timeout: Optional[float] = None,
    max_queue: Optional[int] = None,
    not_seats: Iterable[int] = (),
    key: Optional[str] = None,
    share: int = 1,
    command: Optional[str] = None,
    mode: int = 0,
    nested: str = "join",
) -> Permit:
    """A permit of the limiter `name`, or of the file that it is the path of if it has a slash.

    limit      at most so many units while it is held: a number, or "50%" of the CPUs; the default
               is the limit of the latest permit, or the number of CPUs
    weight     units; with `most`, at least so many, and up to `most` if they are free
    timeout    seconds to wait, 0 for none; then TimedOut
    max_queue  Refused behind so many waiters or more
    not_seats  seats that it must not have
    key        in a fair limiter by words: the word that this taker is counted to
    share      in a fair limiter: how many units its key gets in a turn
    command    what flocklimitctl shows; the default is the program's command line
    mode       the permissions of a new limiter's file
    nested     "join": if this process runs under a permit of the limiter already, that one counts;
               "queue": stand in the line all the same
    """
    if nested not in ("join", "queue"):
        raise ValueError(f"nested={nested!r}: use 'join' or 'queue'")
    text = command if command is not None else " ".join(getattr(sys, "orig_argv", sys.argv))
    request = Request(weight=weight, most=most or 0, command=os.fsencode(text))
    if os.environ.get("FLOCKLIMIT") != "off":
        request.limit = _units(limit)
    if max_queue is not None:
        request.limit_queue, request.max_queue = True, max_queue
    for seat in not_seats:
        if not 0 <= seat < 64:
            raise ValueError(f"not_seats: {seat} is no seat: use 0 to 63")
        request.not_seats |= 1 << seat
    request.key = os.fsencode(key) if key is not None else None
    request.share = share
    return Permit(name, request, mode, timeout, nested == "join")

# SPDX-License-Identifier: ISC
"""What there is instead of a permit."""

import errno

from . import _library


class Error(Exception):
    """The limiter can't be used; `code` is one of flocklimit.h, or minus an errno value."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name}: {_library.sentence(code)}")
        self.name = name
        self.code = code


class TimedOut(Error, TimeoutError):
    """There was no permit before the timeout."""


class Refused(Error):
    """The limiter is closed, its line is too long, or an operator took the waiter out of it."""


class Cancelled(Error):
    """Permit.cancel() ended the wait."""


_CLASSES = {
    -errno.ETIMEDOUT: TimedOut,
    -errno.EAGAIN: TimedOut,
    -_library.CLOSED: Refused,
    -_library.FULL: Refused,
    -_library.EVICTED: Refused,
    -_library.CANCELLED: Cancelled,
}


def error(name: str, code: int) -> Error:
    return _CLASSES.get(code, Error)(name, code)

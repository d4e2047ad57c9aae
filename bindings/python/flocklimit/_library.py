# SPDX-License-Identifier: ISC
"""libflocklimit, as its header declares it: the structs and functions that a permit needs.

Structs keep their size in all versions of the library: what is reserved is 0.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_uint32, c_uint64, c_void_p
from typing import Optional

# enum flk_error begins with FLK_BADNAME
_FIRST = 4096
GONE, CLOSED, FULL, CANCELLED, EVICTED = (_FIRST + n for n in (13, 15, 16, 17, 18))


class Options(ctypes.Structure):
    _fields_ = [
        ("existing", c_bool),
        ("damaged", c_bool),
        ("reading", c_bool),
        ("mode", c_uint32),
        ("limit", c_uint32),
        ("initial", c_uint32),
        ("stuck", c_void_p),
        ("inside", c_void_p),
        ("context", c_void_p),
        ("reserved", c_uint64 * 8),
    ]


class Request(ctypes.Structure):
    _fields_ = [
        ("weight", c_uint32),
        ("limit", c_uint32),
        ("limit_queue", c_bool),
        ("max_queue", c_uint32),
        ("command", c_char_p),
        ("role", c_int),
        ("most", c_uint32),
        ("yield_", c_uint32),
        ("not_seats", c_uint64),
        ("ask", c_void_p),
        ("ask_context", c_void_p),
        ("ask_patience_ns", c_uint64),
        ("key", c_char_p),
        ("session", c_int),
        ("share", c_uint32),
        ("reserved", c_uint64 * 6),
    ]


class Held(ctypes.Structure):
    """struct flk_permit"""

    _fields_ = [
        ("ticket", c_uint64),
        ("weight", c_uint32),
        ("limit", c_uint32),
        ("seat", c_uint32),
        ("fence", c_uint64),
        ("seats", c_uint64),
        ("reserved", c_uint64 * 4),
    ]


_FUNCTIONS = {
    "flk_strerror": (c_char_p, [c_int]),
    "flk_attach": (c_int, [POINTER(c_void_p), c_char_p, POINTER(Options)]),
    "flk_detach": (None, [c_void_p]),
    "flk_identity": (c_uint64, [c_void_p]),
    "flk_cpus": (c_uint32, [c_uint32]),
    "flk_taker_new": (c_int, [POINTER(c_void_p), c_void_p]),
    "flk_taker_free": (None, [c_void_p]),
    "flk_acquire_for": (c_int, [c_void_p, POINTER(Request), c_int64]),
    "flk_cancel": (None, [c_void_p]),
    "flk_permit": (c_int, [c_void_p, POINTER(Held)]),
    "flk_guard": (c_int, [c_void_p, POINTER(c_int)]),
    "flk_slot": (c_uint32, [c_void_p]),
    "flk_holds": (c_bool, [c_void_p, c_uint32, c_uint64, POINTER(Held)]),
    "flk_entrusted": (c_int, [c_void_p, c_int, POINTER(Held)]),
}


def _load() -> ctypes.CDLL:
    """$FLOCKLIMIT_LIBRARY is for a build tree."""
    library = ctypes.CDLL(os.environ.get("FLOCKLIMIT_LIBRARY") or "libflocklimit.so.0")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_loaded: Optional[ctypes.CDLL] = None


def lib() -> ctypes.CDLL:
    """Loaded when it is first used: FLOCKLIMIT=off needs no library."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def sentence(code: int) -> str:
    return str(lib().flk_strerror(code).decode())


class Limiter:
    """An open limiter."""

    def __init__(self, name: str, mode: int) -> None:
        self.pointer = c_void_p()
        self.code = lib().flk_attach(byref(self.pointer), os.fsencode(name), byref(Options(mode=mode)))

    def close(self) -> None:
        if self.pointer:
            lib().flk_detach(self.pointer)
        self.pointer = c_void_p()

    def under(self) -> Optional[Held]:
        """The permit of this limiter that this process runs under already."""
        held = Held()
        for link in os.environ.get("FLOCKLIMIT_HELD", "").split():
            try:
                identity, slot, ticket = (int(number, 16) for number in link.split(":"))
            except ValueError:
                break
            if identity == lib().flk_identity(self.pointer) and lib().flk_holds(
                self.pointer, slot, ticket, byref(held)
            ):
                return held
        return held if lib().flk_entrusted(self.pointer, -1, byref(held)) == 0 else None

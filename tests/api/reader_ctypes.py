# SPDX-License-Identifier: ISC
# reader_ctypes.py LIBRARY - a program in Python takes permits with ctypes alone: each function is a plain
# symbol, and what it does not describe is the default.
import ctypes
import errno
import sys

library = ctypes.CDLL(sys.argv[1])
library.flk_strerror.restype = ctypes.c_char_p
library.flk_declared.restype = ctypes.c_uint32
library.flk_acquire_for.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]


class Permit(ctypes.Structure):
    _fields_ = [
        ("ticket", ctypes.c_uint64),
        ("weight", ctypes.c_uint32),
        ("limit", ctypes.c_uint32),
        ("seat", ctypes.c_uint32),
        ("fence", ctypes.c_uint64),
        ("seats", ctypes.c_uint64),
        ("reserved", ctypes.c_uint64 * 4),
    ]


def good(code):
    if code != 0:
        sys.exit(library.flk_strerror(code).decode())


limiter, me, other = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
permit = Permit()
good(library.flk_attach(ctypes.byref(limiter), b"reader", None))
good(library.flk_taker_new(ctypes.byref(me), limiter))
good(library.flk_acquire_for(me, None, 1000))
good(library.flk_permit(me, ctypes.byref(permit)))
assert permit.weight == 1 and permit.limit == library.flk_declared(limiter)
good(library.flk_release(me))
assert library.flk_release(me) != 0
library.flk_taker_free(me)
library.flk_detach(limiter)

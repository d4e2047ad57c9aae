# SPDX-License-Identifier: ISC
# reader_cffi.py HEADER LIBRARY COMPILER... - a program in Python takes permits with cffi, which reads the
# header's own declarations: as the preprocessor leaves them, with nothing of the headers that it includes.
import os
import re
import subprocess
import sys
import tempfile

import cffi

# What those would have declared, and cffi does not know.
TYPES = """
typedef int pid_t;
typedef unsigned uid_t, mode_t;
typedef struct { unsigned long word[16]; } sigset_t;
struct timespec { int64_t tv_sec; long tv_nsec; };
"""

header, library, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
with tempfile.TemporaryDirectory() as empty:
    with open(header) as f:
        for name in re.findall(r"#include <(.*?)>", f.read()):
            os.makedirs(os.path.dirname(os.path.join(empty, name)), exist_ok=True)
            open(os.path.join(empty, name), "w").close()
    words = compiler + ["-E", "-P", "-nostdinc", "-I", empty, "-DFLK_CHECKED=", header]
    declarations = subprocess.run(words, check=True, capture_output=True, text=True).stdout
# The one that is an assertion.
declarations = re.sub(r"typedef char flk_needs_64_bit_time_t.*?;", "", declarations, flags=re.S)

ffi = cffi.FFI()
ffi.cdef(TYPES + declarations)
flk = ffi.dlopen(library)


def good(code):
    if code != 0:
        sys.exit(ffi.string(flk.flk_strerror(code)).decode())


limiter, me = ffi.new("struct flk **"), ffi.new("struct flk_taker **")
snapshot = ffi.new("struct flk_snapshot **")
good(flk.flk_attach(limiter, b"reader", ffi.new("struct flk_options *", {"limit": 3})))
good(flk.flk_taker_new(me, limiter[0]))
command = ffi.new("char[]", b"reader")
good(flk.flk_acquire(me[0], ffi.new("struct flk_request *", {"weight": 2, "command": command}), ffi.NULL))
good(flk.flk_snapshot(limiter[0], snapshot))
assert snapshot[0].holders == 1 and snapshot[0].limit == 3 and snapshot[0].used == 2
entry = snapshot[0].entry[0]
assert entry.pid == os.getpid() and ffi.string(entry.command) == b"reader"
now = ffi.new("struct flk_settings *", {"override": 5})
good(flk.flk_set(limiter[0], flk.FLK_SET_OVERRIDE, now))
good(flk.flk_get(limiter[0], now))
assert now.override == 5 and flk.flk_attach(limiter, b".", ffi.NULL) == -flk.FLK_BADNAME
good(flk.flk_release(me[0]))
flk.flk_taker_free(me[0])

# SPDX-License-Identifier: ISC
"""A machine-wide limiter: first come, first served, by weight.

    import flocklimit

    with flocklimit.permit("gpu", limit=4, weight=2) as p:
        train(device=p.seats[0])    # at most 4 units of "gpu" are held on this machine

    async with flocklimit.permit("api", limit=8):
        await call()

    for page in flocklimit.map(fetch, urls, name="api", limit=8):
        ...

A permit is given back at the end of the block, and by the kernel when the process dies, even of
SIGKILL.  The limiters are those of flocklimit(1): `flocklimit -N gpu -n 4 -w 2` stands in the same
line, and flocklimitctl(1) shows and steers them.
"""

from ._errors import Cancelled, Error, Refused, TimedOut
from ._map import map
from ._permit import Permit, permit

__all__ = ["Cancelled", "Error", "Permit", "Refused", "TimedOut", "map", "permit"]

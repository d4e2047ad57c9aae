# SPDX-License-Identifier: ISC
import asyncio

import flocklimit
import pytest
from conftest import counts, until


async def soon(condition):
    while not condition():
        await asyncio.sleep(0.01)


def test_the_loop_goes_on_while_a_task_waits():
    async def main():
        ticks = 0
        async with flocklimit.permit("x", limit=1):

            async def wait():
                async with flocklimit.permit("x", limit=1) as p:
                    return p.ticket

            task = asyncio.create_task(wait())
            await soon(lambda: counts("x") == (1, 1))
            for _ in range(10):
                await asyncio.sleep(0)
                ticks += 1
            assert not task.done()
        return ticks, await task

    assert asyncio.run(main()) == (10, 2)


def test_cancellation_leaves_the_line():
    async def main():
        async with flocklimit.permit("x", limit=1):
            task = asyncio.create_task(flocklimit.permit("x", limit=1).__aenter__())
            await soon(lambda: counts("x") == (1, 1))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert counts("x") == (1, 0)

    asyncio.run(main())
    assert counts("x") == (0, 0)


def test_wait_for_and_a_timeout():
    async def main():
        async with flocklimit.permit("x", limit=1):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(flocklimit.permit("x", limit=1).__aenter__(), 0.05)
            with pytest.raises(flocklimit.TimedOut):
                async with flocklimit.permit("x", limit=1, timeout=0.01):
                    pass

    asyncio.run(main())
    until(lambda: counts("x") == (0, 0))


def test_many_tasks_never_pass_the_limit():
    async def main():
        inside = most = 0

        async def work():
            nonlocal inside, most
            async with flocklimit.permit("x", limit=3):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(work() for _ in range(40)))
        return most

    assert 1 <= asyncio.run(main()) <= 3

# SPDX-License-Identifier: ISC
import os
import signal
import subprocess
import threading

import flocklimit
import pytest
from conftest import CTL, FLOCKLIMIT, counts, python, show, until


def test_a_block_holds_a_permit():
    with flocklimit.permit("x", limit=4, weight=2) as p:
        assert (p.weight, p.limit, p.ticket, p.seat, p.seats, p.joined) == (2, 4, 1, 0, (0, 1), False)
        (holder,) = show("x")["holders"]
        assert holder["weight"] == 2 and "pytest" in holder["command"]
    assert counts("x") == (0, 0)


def test_a_permit_may_be_used_again_and_released_twice():
    p = flocklimit.permit("x", limit=1)
    for ticket in (1, 2):
        with p:
            assert p.ticket == ticket
            with pytest.raises(RuntimeError, match="in use"):
                p.acquire()
    p.release()
    assert counts("x") == (0, 0)


def test_an_exception_gives_it_back():
    with pytest.raises(KeyError):
        with flocklimit.permit("x", limit=1):
            raise KeyError
    assert counts("x") == (0, 0)


def test_first_come_first_served_among_threads():
    order = []
    first = flocklimit.permit("x", limit=1).acquire()
    threads = []
    for i in range(5):

        def work(i=i):
            with flocklimit.permit("x", limit=1):
                order.append(i)

        threads.append(threading.Thread(target=work))
        threads[i].start()
        until(lambda: counts("x") == (1, len(threads)))
    first.release()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]


def test_the_limit_is_never_passed():
    inside, most, lock = 0, 0, threading.Lock()

    def work():
        nonlocal inside, most
        for _ in range(20):
            with flocklimit.permit("x", limit=3):
                with lock:
                    inside += 1
                    most = max(most, inside)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most <= 3


def test_no_permit_is_an_exception():
    with flocklimit.permit("x", limit=1):
        for timeout in (0, 0.01):
            with pytest.raises(TimeoutError) as caught:
                flocklimit.permit("x", limit=1, timeout=timeout).acquire()
            assert isinstance(caught.value, flocklimit.TimedOut) and caught.value.name == "x"
        with pytest.raises(flocklimit.Refused, match="x: "):
            flocklimit.permit("x", limit=1, max_queue=0).acquire()
    with pytest.raises(flocklimit.Error, match="above the limit"):
        flocklimit.permit("x", limit=1, weight=2).acquire()
    with pytest.raises(flocklimit.Error, match="not a name"):
        flocklimit.permit("..").acquire()
    subprocess.run([CTL, "close", "x"], check=True)
    with pytest.raises(flocklimit.Refused):
        flocklimit.permit("x", limit=1).acquire()


def test_bad_words():
    with pytest.raises(ValueError, match="use 'join' or 'queue'"):
        flocklimit.permit("x", nested="perhaps")
    with pytest.raises(ValueError, match="64 is no seat"):
        flocklimit.permit("x", not_seats=[64])


def test_a_percentage_an_elastic_weight_and_seats_that_it_must_not_have():
    with flocklimit.permit("x", limit="100%") as p:
        assert p.limit == len(os.sched_getaffinity(0)) or p.limit >= 1
    with flocklimit.permit("y", limit=4, weight=1, most=3, not_seats=[1]) as p:
        assert p.weight == 3 and p.seats == (0, 2, 3)


def test_a_path():
    path = os.path.join(os.environ["FLOCKLIMIT_DIR"], "by-path")
    with flocklimit.permit(path, limit=1):
        assert os.path.exists(path)


def test_cancel_from_another_thread():
    with flocklimit.permit("x", limit=1):
        waiter = flocklimit.permit("x", limit=1)
        caught = []

        def wait():
            try:
                waiter.acquire()
            except flocklimit.Cancelled as wrong:
                caught.append(wrong)

        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: counts("x") == (1, 1))
        waiter.cancel()
        thread.join()
        assert len(caught) == 1
        assert counts("x") == (1, 0)


def test_interrupt_takes_the_waiter_out_of_the_line():
    with flocklimit.permit("x", limit=1):
        child = python(
            "import signal, flocklimit\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "try: flocklimit.permit('x', limit=1).acquire()\n"
            "except KeyboardInterrupt: print('interrupted'); input()\n",
            stdin=subprocess.PIPE,
        )
        until(lambda: counts("x") == (1, 1))
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert counts("x") == (1, 0)
        child.communicate("\n")


@pytest.mark.parametrize("holds", [True, False])
def test_kill_gives_it_back(holds):
    code = "import flocklimit, time\nflocklimit.permit('x', limit=1).acquire()\nprint('held', flush=True)\ntime.sleep(600)"
    if holds:
        child = python(code)
        assert child.stdout.readline() == "held\n"
        child.kill()
        child.communicate()
    else:
        with flocklimit.permit("x", limit=1):
            child = python(code)
            until(lambda: counts("x") == (1, 1))
            child.kill()
            child.communicate()
    with flocklimit.permit("x", limit=1, timeout=60):
        pass


def test_a_child_of_fork_has_none_of_its_parents_permits():
    with flocklimit.permit("x", limit=1) as p:
        pid = os.fork()
        if pid == 0:
            try:
                p.release()
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        assert counts("x") == (1, 0)


def test_the_process_that_it_starts_keeps_the_permit():
    code = (
        "import flocklimit, os, signal, subprocess\n"
        "p = flocklimit.permit('x', limit=1).acquire()\n"
        "subprocess.Popen(['cat'], stdin=0, pass_fds=[p.fileno()], env=p.environ())\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    child = python(code, stdin=subprocess.PIPE)
    child.wait()
    with pytest.raises(flocklimit.TimedOut):
        flocklimit.permit("x", limit=1, timeout=0).acquire()
    child.stdin.close()
    with flocklimit.permit("x", limit=1, timeout=60):
        pass
    child.stdout.close()


def test_it_joins_the_permit_that_it_runs_under():
    code = "import flocklimit\nwith flocklimit.permit('x', limit=2) as p: print(p.joined, p.weight)"
    run = [FLOCKLIMIT, "-N", "x", "-n", "2", "-w", "2", os.sys.executable, "-c", code]
    assert subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout == "True 2\n"
    run[-1] = code.replace("limit=2", "limit=2, nested='queue', timeout=0")
    assert subprocess.run(run, stderr=subprocess.PIPE, check=False).returncode == 1


def test_an_inner_flocklimit_joins_it():
    with flocklimit.permit("x", limit=1) as p:
        inner = [FLOCKLIMIT, "-N", "x", "sh", "-c", "echo $FLOCKLIMIT_TICKET $FLOCKLIMIT_SEATS"]
        done = subprocess.run(inner, env=p.environ(), stdout=subprocess.PIPE, text=True, check=True)
        assert done.stdout == f"{p.ticket} 0\n"


def test_a_limiter_that_is_removed_meanwhile_is_made_anew():
    flocklimit.permit("x", limit=1).acquire().release()
    os.unlink(os.path.join(os.environ["FLOCKLIMIT_DIR"], "x"))
    with flocklimit.permit("x", limit=1) as p:
        assert p.ticket == 1


def test_off(monkeypatch):
    monkeypatch.setenv("FLOCKLIMIT", "off")
    with flocklimit.permit("x", limit=1, weight=3) as p:
        assert p.weight == 3
        with flocklimit.permit("x", limit=1):
            pass
    assert not os.listdir(os.environ["FLOCKLIMIT_DIR"])


def test_without_the_library():
    code = "import flocklimit\ntry: flocklimit.permit('x', limit=1).acquire()\nexcept OSError: print('no library')"
    child = python(code, env={**os.environ, "FLOCKLIMIT_LIBRARY": "/nonexistent"})
    assert child.communicate()[0] == "no library\n"

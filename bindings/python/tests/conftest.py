# SPDX-License-Identifier: ISC
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

PACKAGE = str(pathlib.Path(__file__).resolve().parent.parent)
FLOCKLIMIT, CTL = os.environ["FLOCKLIMIT"], os.environ["CTL"]


@pytest.fixture(autouse=True)
def own_directory(tmp_path, monkeypatch):
    """Each test has limiters of its own, and is no command of a flocklimit around it."""
    for name in list(os.environ):
        if name.startswith("FLOCKLIMIT") and name not in ("FLOCKLIMIT_LIBRARY",):
            monkeypatch.delenv(name)
    directory = tmp_path / "limiters"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("FLOCKLIMIT_DIR", str(directory))
    monkeypatch.setenv("PYTHONPATH", PACKAGE)
    return directory


def show(name):
    shown = subprocess.run(
        [CTL, "show", "--json", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
    )
    return json.loads(shown.stdout or '{"holders": [], "waiters": []}')


def until(condition):
    """Waits for an event, for at most two minutes."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def counts(name):
    shown = show(name)
    return len(shown["holders"]), len(shown["waiters"])


def python(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, **options)

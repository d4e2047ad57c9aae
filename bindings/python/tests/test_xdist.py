# SPDX-License-Identifier: ISC
import subprocess
import sys

import pytest
from conftest import FLOCKLIMIT

pytest.importorskip("xdist")


def test_n_auto_takes_the_weight(tmp_path):
    (tmp_path / "test_it.py").write_text("import os\ndef test_it(): assert os.environ['PYTEST_XDIST_WORKER_COUNT'] == '3'\n")
    command = [
        *(FLOCKLIMIT, "-N", "cpu", "-n", "3", "-w", "2-"),
        *(sys.executable, "-m", "pytest", "-p", "flocklimit.pytest_plugin", "-p", "no:cacheprovider"),
        *("-n", "auto", str(tmp_path / "test_it.py")),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert "1 passed" in done.stdout

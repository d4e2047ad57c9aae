# SPDX-License-Identifier: ISC
"""`flocklimit -N cpu -n 100% -w 2- pytest -n auto`: as many workers as the permit has units."""

import os
from typing import Optional

import pytest


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers() -> Optional[int]:
    weight = os.environ.get("FLOCKLIMIT_WEIGHT", "")
    return int(weight) if weight.isdigit() and int(weight) > 0 else None

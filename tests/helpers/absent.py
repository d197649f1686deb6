"""Compilers for targets that are not here, and tools: a test that needs one that is not installed skips, or fails.

`JAXSTAGE_COMPILERS=required` (as `make test` says) makes it fail, so that no machine skips these tests unnoticed.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.target import parse

REQUIRED = os.environ.get("JAXSTAGE_COMPILERS") == "required"
PLATFORMS = ("tpu", "cuda")


def needs(name: str) -> None:
    """Skip or fail a test whose target ("v5e:2x2"), or platform ("tpu"), cannot be compiled for on this machine."""
    platform = name if name in PLATFORMS else parse(name).platform
    if platform in PLATFORMS and (lacks := packages.find(platform).lacks):
        unavailable(f"{name} {lacks}")


def unavailable(reason: str) -> NoReturn:
    """Skip where what is missing is a choice; fail where `JAXSTAGE_COMPILERS` says that it must be installed."""
    if REQUIRED:
        pytest.fail(f"JAXSTAGE_COMPILERS=required, and {reason}", pytrace=False)
    pytest.skip(reason)

"""Targets whose compilers may not be installed here."""

from __future__ import annotations

import pytest

from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.target import parse


def needs(target: str) -> None:
    """Skip, with the reason, a test whose target cannot be compiled for here."""
    platform = parse(target).platform
    if platform in ("tpu", "cuda") and (lacks := packages.find(platform).lacks):
        pytest.skip(f"{target} {lacks}")

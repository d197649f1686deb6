"""Requests of tabs, asked for their answers."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _answers(patient_requests: None) -> None:
    """No test here is about jobs."""

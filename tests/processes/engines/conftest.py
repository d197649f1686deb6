"""One job of two engines for the tests of a file that leave it as it is: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_jobs import SETUP, engine_job_of, run_in_all

from jaxstage_ext.processes.engines.engine_start import StartedJob


@pytest.fixture(scope="module")
def engines() -> Iterator[StartedJob]:
    """The job, which is this process's; `total(x)` runs in both and is 28."""
    with engine_job_of(2) as job:
        run_in_all(job, SETUP)
        yield job

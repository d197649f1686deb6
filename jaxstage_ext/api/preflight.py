"""preflight(): no job of several processes goes wrong because two of them compiled different programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jaxstage_ext.processes.processes_disagree import ProcessesDisagree
from jaxstage_ext.processes.script_preflight import DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from jaxstage_ext.processes.guard import Guard

__all__ = ["ProcessesDisagree", "preflight"]


@contextmanager
def preflight(timeout: float = DEFAULT_TIMEOUT, report: str | os.PathLike[str] | None = None) -> Iterator[Guard]:
    """Compare each program that spans processes with the other processes before it runs for the first time.

        jax.distributed.initialize(...)
        with jaxstage_ext.preflight():
            train()

    Every process of the job enters the block. Where their programs differ, all stop with one error that says which
    processes, what differs, the source line and the likely cause, and names one report file; JAX itself would hang, or
    on CPUs compute wrong values without an error. A process that does not come, because of an error, because its block
    has ended or within `timeout`, stops the others in the same way. Compared are StableHLO without locations, compile
    options, donation, the order of devices and of first runs, versions of JAX, jaxlib and plugin, and XLA's flags. Each
    new program takes one round trip over the job's key-value store; calls of compiled programs take nothing. Texts are
    sent only where digests differ. Without `jax.distributed` nothing is compared.

    JAXSTAGE_PREFLIGHT=1 does the same for a whole script that imports jaxstage_ext; `python -m jaxstage_ext.processes
    script.py` does it for a script as it is. JAXSTAGE_PREFLIGHT_TIMEOUT and JAXSTAGE_PREFLIGHT_REPORT are the two
    arguments. Inside a guarded script, or another block, a block changes nothing.

    It does not see the order in which compiled programs are called again, programs compiled ahead of time
    (`.lower().compile()`), nor differences in the values of arguments. A process may compile ahead of time what the
    others do not, as to look at it. Enter the block before programs are compiled. Programs of threads other than the
    main one are compared by their names, for their order may differ.

    Args:
      timeout: for how many seconds a process waits for the others at a program; it says so after ten.
      report: the folder for the report; the working folder unless given.

    Yields:
      An object whose `compared` is how many programs were compared, `seconds` how long that took in all, and
      `ahead_of_time` how many were not compared because they were compiled ahead of time.

    Raises:
      ProcessesDisagree: in every process, from the call that would have run the program.
      ValueError: where `timeout` is not a positive number.
    """
    from jaxstage_ext.processes.guard import default_folder
    from jaxstage_ext.processes.guarding import guarded

    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
        raise ValueError(f"timeout is a number of seconds over 0, not {timeout!r}")
    with guarded(float(timeout), Path(report) if report is not None else default_folder()) as guard:
        yield guard

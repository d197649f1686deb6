"""Jobs of several real JAX processes on this machine alone: one device each, CPU, loopback."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

JOBS = Path(__file__).parents[1] / "processes" / "jobs"
_ROOT = Path(__file__).parents[2]


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run_job(
    script: str,
    folder: Path,
    *words: str,
    processes: int = 2,
    environments: Sequence[Mapping[str, str]] = (),
    runners: Sequence[Sequence[str]] = (),
    seconds: float = 120.0,
) -> list[Any]:
    """What each process of a job wrote as JSON into `{folder}/{process}.json`; None where it wrote nothing.

    Each is `python {its runner} {script} {port} {process} {processes} {folder} {words}`; its output is in
    `{folder}/{process}.txt`.
    """
    port, running = free_port(), list[subprocess.Popen[bytes]]()
    for process in range(processes):
        given = environments[process] if environments else {}
        path = os.pathsep.join([str(_ROOT), str(JOBS)])
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"} | dict(given)
        environment.pop("JAX_NUM_CPU_DEVICES", None)
        runner = runners[process] if runners else ()
        command = [sys.executable, *runner, str(JOBS / script), str(port), str(process), str(processes), str(folder)]
        with (folder / f"{process}.txt").open("wb") as output:
            running.append(
                subprocess.Popen([*command, *words], stdout=output, stderr=output, cwd=folder, env=environment)
            )
    try:
        for one in running:
            one.wait(seconds)
    finally:
        for one in running:
            one.kill()
            one.wait()
    files = [folder / f"{process}.json" for process in range(processes)]
    return [json.loads(file.read_text()) if file.exists() else None for file in files]

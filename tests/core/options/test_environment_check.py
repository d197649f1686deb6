"""XLA_FLAGS that end the process that hands them to XLA: in one line, and the kernel lives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from counted_calls import calls_of

REFUSED = {
    "--xla_nothing_such=1": "Unknown flag in XLA_FLAGS: --xla_nothing_such=1",
    "--xla_cpu_enable_fast_math=maybe": "a flag has a value that it cannot take",
    "/no/such/file": 'Could not open file "/no/such/file"',
    "   ": "Could not open file ",
    "--xla_backend_extra_options=nonsense": "Unknown command line argument 'nonsense'",
    f"--xla_{'a' * 100_000}": "Unknown flag in XLA_FLAGS: --xla_aaaa",
    "--xla_force_host_platform_device_count=99999": "4,096 virtual devices are the most",
}
ACCEPTED = "--xla_cpu_enable_fast_math=true --xla_dump_to="
SCRIPT = """
import contextlib, io, json, os, sys
from IPython.core.interactiveshell import InteractiveShell
import jax, jaxstage_ext
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jaxstage_ext")
said = {}
for flags in json.loads(sys.argv[1]):
    os.environ["XLA_FLAGS"] = flags
    try:
        jaxstage_ext.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((3,), "float32"), stage="trace")
        said[flags] = None
    except ValueError as error:
        said[flags] = str(error)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            shell.run_cell("%compile (lambda x: x + 1)(1.0)")
        assert shown.getvalue().strip().splitlines() == ["UsageError: " + str(error)], shown.getvalue()
        assert not shell.complete("", "%compile --xla cpu_", 19)[1]
print(json.dumps(said))
"""


def outcomes(flags: list[str]) -> dict[str, Any]:
    """What an inspection says of each XLA_FLAGS, in one process in which JAX was not used before."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(flags)],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "XLA_FLAGS": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_flags_that_xla_does_not_survive_are_refused_in_one_line_and_the_kernel_lives() -> None:
    said = outcomes([*REFUSED, ACCEPTED])
    assert said.pop(ACCEPTED) is None
    for flags, message in said.items():
        assert message, flags
        assert REFUSED[flags] in message
        assert len(message) < 400
        assert "\n" not in message


def test_without_flags_and_in_a_process_that_uses_jax_no_worker_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    from jaxstage_ext.core.options import environment_check
    from jaxstage_ext.worker import pool

    jax.devices()
    asked = calls_of(monkeypatch, pool, "ask")
    environment_check.check()
    monkeypatch.setenv("XLA_FLAGS", "--xla_nothing_such=1")  # XLA has read the variable, and will not again
    environment_check.check()
    assert asked == []

"""What programs as readers cost: the short form beside the head of a panel, the command line beside a bare compile."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jaxstage_ext import inspect
from jaxstage_ext.report.text.brief_text import MOST_BYTES
from tests.benchmarks.model import step
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark

_FLAX = """
import jax, jax.numpy as jnp, optax
import flax.linen as nn

class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x))
        return x + nn.Dense(128)(nn.gelu(nn.Dense(512)(nn.LayerNorm()(x))))

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(4):
            x = Block()(x)
        return nn.Dense(512)(x)

net, tx = Net(), optax.adam(1e-3)
batch = jnp.ones((4, 64, 128))
params = net.init(jax.random.key(0), batch)
state = tx.init(params)

@jax.jit
def step(params, state, batch):
    grads = jax.grad(lambda p: (net.apply(p, batch) ** 2).mean())(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state
"""
_BARE = "import training as t; t.step.trace(t.params, t.state, t.batch).lower().compile()"


_RUNS = 3


def _of_children() -> float:
    """Seconds of a processor that processes took which have ended: what else the machine does plays no part."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_short_form_takes_less_than_the_head_of_the_panel() -> None:
    fn, arguments = step(4)
    inspection = inspect(fn, *arguments)
    head = seconds(inspection.summary, time.process_time)
    assert inspection.cost.roofline.verdict and len(inspection.findings) > 0  # known, as where Findings was opened
    text = statistics.median(seconds(inspection._repr_llm_, time.process_time) for _ in range(5))
    row(
        "short form, once findings are known",
        f"{1e3 * text:.1f} ms",
        f"head: {1e3 * head:.1f} ms",
        "20 ms",
        text < 0.02,
    )
    size = len(inspection._repr_llm_().encode())
    row("short form", f"{size:,} B", "", f"{MOST_BYTES:,} B", size <= MOST_BYTES)


@pytest.mark.timeout(900)
def test_findings_on_a_command_line_cost_little_more_than_the_compile(tmp_path: Path) -> None:
    """The least of several runs of each, in turn: what else runs adds to a process's seconds, and takes none away."""
    (tmp_path / "training.py").write_text(_FLAX)
    kept = {"PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"), "HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | kept

    def run(*command: str) -> float:
        how: dict[str, Any] = {"cwd": tmp_path, "check": True, "capture_output": True, "env": environment}
        return seconds(lambda: subprocess.run([sys.executable, *command], **how), _of_children)

    commands = [
        ("-m", "jaxstage_ext", "findings", "training.py", "step(params, state, batch)", "--json"),
        ("-c", _BARE),
    ]
    for command in commands:  # as installed packages, whose bytecode is there
        run(*command)
    ours, theirs = (min(took) for took in zip(*[[run(*one) for one in commands] for _ in range(_RUNS)], strict=True))
    row("findings on a command line, flax step of 4 layers", f"{ours / theirs:.2f}× ({ours:.1f} s)",
        f"import, compile: {theirs:.1f} s", "1.2×", ours / theirs <= 1.2)  # fmt: skip

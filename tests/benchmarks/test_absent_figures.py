"""What devices that are not here cost: a worker's start, a warm request, a thousand chips in the panel."""

from __future__ import annotations

import ast
import statistics
import time
from collections.abc import Iterator

import jax.numpy as jnp
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.targets import environments
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool
from tests.benchmarks.table import row, seconds

pytestmark = pytest.mark.benchmark
PLATFORMS = {"cpu:4": "cpu", "v5e:2x2": "tpu", "h100:4": "cuda"}


@pytest.fixture(autouse=True)
def no_cache() -> Iterator[None]:
    cache.enable(False)
    yield
    cache.enable(True)
    pool.close_all()


def test_a_worker_is_ready() -> None:
    def start() -> None:
        pool.ask("cpu", {"method": "ping"}, environment=environments.taken("cpu"))

    times = []
    for _ in range(5):
        pool.close_all()
        times.append(seconds(start))
    took = statistics.median(times)
    row("worker started and answering", f"{took:.2f} s", "", "<= 0.3 s", took <= 0.3)


@pytest.mark.parametrize("target", PLATFORMS)
def test_a_warm_request(target: str) -> None:
    """What the request takes beyond XLA's own seconds, the compile of a small module."""
    needs(PLATFORMS[target])
    program = preparation.prepared(
        inspect(lambda x: jnp.tanh(x @ x).sum(), jnp.ones((64, 64)), target=target).program.staged
    )
    added, took = [], []
    for _ in range(9):
        started = time.perf_counter()
        inside = program.ask("compile", large_constants=True)["seconds"]
        added.append(time.perf_counter() - started - inside)
        took.append(inside)
    ours, theirs = statistics.median(added), statistics.median(took)
    row(
        f"{target}: a warm request adds", f"{ours * 1e3:.1f} ms", f"{theirs * 1e3:.0f} ms XLA", "<= 30 ms", ours <= 0.03
    )


SETUP = """
%load_ext jaxstage_ext
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)

def layer(x, w):
    q, k, v = (part.reshape(*x.shape[:2], 16, -1) for part in jnp.split(norm(x) @ w["qkv"], 3, -1))
    x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ w["out"]
    return x + jax.nn.gelu(norm(x) @ w["up"]) @ w["down"]

def step(w, x):
    return jax.grad(lambda w: jnp.mean(layer(x, w).astype(jnp.float32) ** 2))(w)

def bf16(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)

w = {"qkv": bf16(2048, 6144), "out": bf16(2048, 2048), "up": bf16(2048, 8192), "down": bf16(8192, 2048)}
"""
SPECS = "P(None, 'model'), P('data')"


@pytest.mark.parametrize(
    ("target", "mesh", "batch"), [("v5p:8x8x16", "data=64,model=16", 128), ("h100:16x8", "data=16,model=8", 32)]
)
def test_a_pod_in_the_panel(target: str, mesh: str, batch: int, lab, open_notebook) -> None:
    """From the run of the cell to the HLO's text in the page, in a kernel that has imported nothing of ours yet.

    Beside the compile, in seconds of a processor (v5p): 0.5 importing what the panel needs, half of it other packages;
    0.3 JAX's trace and lowering; 0.3 the worker's start, beside these; 0.3 after the compile. The page takes the rest.
    XLA compiles on all cores, so that all this weighs more by the clock. The goal was missed when this was written.
    """
    needs("tpu" if target.startswith("v") else "cuda")
    call = f'%compile -o ins -t {target} --mesh "{mesh}" --in-spec "{SPECS}" step(w, bf16({batch}, 512, 2048))'
    notebook = open_notebook(lab, [SETUP, call, "print(f'SECONDS {ins.seconds}')"])
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
    notebook.wait_idle()
    started = time.perf_counter()
    notebook.command("notebook:run-cell-and-select-next", wait=False)
    notebook.page.locator('[data-doc="hlo"][data-ready="true"] [data-row]').first.wait_for(timeout=120_000)
    took = time.perf_counter() - started
    notebook.command("notebook:run-cell-and-select-next")
    printed = notebook.page.locator(".jp-OutputArea-output", has_text="SECONDS").last.inner_text()
    stages = ast.literal_eval(printed.partition("SECONDS ")[2])
    ratio = took / stages["compile"]
    rest = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in stages.items())
    what = f"{target}, sharded transformer step, in the panel"
    row(what, f"{took:.1f} s, {ratio:.2f} compiles", rest, "<= 1.2 of its compile", ratio <= 1.2)

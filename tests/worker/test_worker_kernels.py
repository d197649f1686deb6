"""Two kernels with compile workers at once: neither disturbs the other, nor a process that holds libtpu."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from absent import needs

import jaxstage_ext
from jaxstage_ext.core.targets import packages
from jaxstage_ext.worker import pool

pytestmark = pytest.mark.usefixtures("workers_of_our_own")
REPO = Path(__file__).parents[2]
INSPECTIONS = textwrap.dedent("""
    import sys
    import jax.numpy as jnp
    from jaxstage_ext import inspect
    from jaxstage_ext.store import cache
    cache.enable(False)
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(2):
        ins = inspect(lambda x: jnp.tanh(x @ x) * n, jnp.ones((8, 8)), target=sys.argv[1])
        assert "tanh" in ins.documents["hlo"].text, ins.error
    print("fine")
""")


def kernel(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPO,
        env=os.environ | environment,
    )


GPU = pytest.param(
    "h100:2", marks=pytest.mark.seldom("nothing is shared there; libtpu has one lock file for a machine")
)


@pytest.mark.parametrize("target", ["cpu:2", "v5e:2x2", GPU])
def test_two_kernels_compile_at_once(target: str) -> None:
    needs(target)
    kernels = [kernel(INSPECTIONS, target) for _ in range(2)]
    assert [each.stdout.readline() for each in kernels if each.stdout] == ["ready\n"] * 2
    for each in kernels:
        each.stdin.write("go\n")
        each.stdin.flush()
    results = [each.communicate(timeout=280) for each in kernels]
    assert [out for out, _ in results] == ["fine\n"] * 2, results


HOLDS_LIBTPU = textwrap.dedent("""
    import sys
    from jaxlib import xla_client
    xla_client.load_pjrt_plugin_dynamically("tpu", sys.argv[1])
    xla_client.initialize_pjrt_plugin("tpu")
    xla_client.make_tfrt_tpu_c_api_device_topology("v5e:2x2")
    print("holds it", flush=True)
    sys.stdin.read()
""")


@contextlib.contextmanager
def libtpu_is_held(**environment: str) -> Iterator[None]:
    """Inside the block a process has libtpu loaded and, without ALLOW_MULTIPLE_LIBTPU_LOAD, holds its lock file.

    The machine has one lock file. Where a process that is not ours holds it already, that one serves as well.
    """
    holder = kernel(HOLDS_LIBTPU, packages.find("tpu").library, TPU_SKIP_MDS_QUERY="1", **environment)
    assert holder.stdout and holder.stderr
    is_ours = holder.stdout.readline() == "holds it\n"
    try:
        assert is_ours or "libtpu multi-process lockfile" in holder.stderr.read()
        yield
        assert not is_ours or holder.poll() is None
    finally:
        holder.communicate()


@pytest.mark.needs("tpu")
@pytest.mark.parametrize("several", ["", "1"])
def test_a_process_that_holds_libtpu_is_no_hindrance(several: str) -> None:
    with libtpu_is_held(**({"ALLOW_MULTIPLE_LIBTPU_LOAD": several} if several else {})):
        for n in range(2):
            ins = jaxstage_ext.inspect(lambda x, n=n: x + n + 1, 1.0, target="v5e:2x2")
            assert ins.documents["hlo"].text
        assert list(pool.running()) == ["tpu"]

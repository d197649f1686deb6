"""What reading a large profile takes, beside the readers that others have. `make benchmarks` prints the table."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.xplane import xplane
from tests.benchmarks.table import pairs, row, seconds
from tests.helpers.big_profiles import repeated
from tests.helpers.profiles import captured

pytestmark = pytest.mark.benchmark
EVENTS, MANY = 1_100_000, 5_000_000
GIGABYTE = 1e9


@pytest.fixture(scope="module")
def small() -> bytes:
    """Four hundred steps of a loop."""
    step = jax.jit(lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c @ c), None), x, None, length=5)[0].sum())
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    return captured(lambda: [step(x).block_until_ready() for _ in range(400)])


def _linked(data: bytes) -> int:
    recording = xplane.read(data, "large")
    assert (op_links.places(recording).frame >= 0).any()
    return len(recording.events)


def _walked(data: bytes) -> int:
    count = 0
    for plane in jax.profiler.ProfileData.from_serialized_xspace(data).planes:
        for line in plane.lines:
            for event in line.events:
                _ = event.name, event.start_ns, event.duration_ns, dict(event.stats)
                count += 1
    return count


def test_a_million_events_from_bytes_to_linked_columns(small: bytes) -> None:
    data = repeated(small, EVENTS)
    warnings.simplefilter("ignore")
    events = _linked(data)
    assert events == _walked(data) >= EVENTS
    took = pairs(lambda: _linked(data), lambda: _walked(data), rounds=3)
    row(
        f"{events:,} events, {len(data) / 1e6:.0f} MB, to linked columns",
        f"{took.ours:.2f} s",
        f"ProfileData {took.theirs:.2f} s",
        "<= 1.5 x",
        took.ratio <= 1.5,
    )


_XPROF = """
import sys, time
from xprof.convert import raw_to_tool_data
started = time.perf_counter()
options = {"use_saved_result": False, "host": "h"}
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "trace_viewer", options)
print(time.perf_counter() - started)
"""


def test_a_million_events_against_xprof(small: bytes, tmp_path: Path) -> None:
    pytest.importorskip("xprof", reason="xprof, the profiler's own viewer, is not installed")
    file = tmp_path / "h.xplane.pb"
    file.write_bytes(repeated(small, EVENTS))
    done = subprocess.run([sys.executable, "-c", _XPROF, file], capture_output=True, text=True, check=True, timeout=300)
    theirs = float(done.stdout.split()[-1])
    ours = min(seconds(lambda: _linked(file.read_bytes())) for _ in range(2))
    row("the same by xprof", f"{ours:.2f} s", f"trace_viewer {theirs:.1f} s", ">= 6 x faster", theirs >= 6 * ours)


_MEMORY = """
import resource, sys
from jaxstage_ext.profiling import op_links
from jaxstage_ext.profiling.xplane import xplane
recording = xplane.read(open(sys.argv[1], "rb").read(), "large")
places = op_links.places(recording)
print(len(recording.events), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_five_million_events_fit_in_three_gigabytes(small: bytes, tmp_path: Path) -> None:
    file = tmp_path / "many.xplane.pb"
    file.write_bytes(repeated(small, MANY))
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, file], capture_output=True, text=True, check=True, timeout=300
    )
    events, peak = map(int, done.stdout.split())
    peak *= 1 if sys.platform == "darwin" else 1024
    assert events >= MANY
    what = f"{events:,} events, {file.stat().st_size / 1e6:.0f} MB: most memory"
    row(what, f"{peak / GIGABYTE:.2f} GB", "", "< 3 GB", peak < 3 * GIGABYTE)

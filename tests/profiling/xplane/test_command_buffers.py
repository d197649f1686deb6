"""Kernels of command buffers (CUDA graphs): which instruction each is of.

The profiles are of two training steps with JAX 0.11.2 on an H200: of three layers of two products each with a scan and
Adam ("h200"), and of four transformer layers with AdamW, whose products cuBLAS computes ("h200_transformer"). Each was
compiled as JAX does by itself ("graphs"), and with `xla_gpu_enable_command_buffer=` ("named"), under which XLA names
the instruction of each kernel: it says what is right.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.analysis.headline import Bound, Headline
from jaxstage_ext.profiling.xplane import xplane
from jaxstage_ext.profiling.xplane.command_buffers import _Launches
from jaxstage_ext.report.recording import Recording

PROFILES = Path(__file__).parents[2] / "golden/profiles"


def recording(name: str) -> Recording:
    return xplane.read(gzip.decompress((PROFILES / f"{name}.xplane.pb.gz").read_bytes()), name)


def kernels(of: Recording) -> list[tuple[str, str]]:
    """(kernel, instruction) of what ran on the GPU, in order."""
    events = of.events
    rows = np.flatnonzero(events.op >= 0)
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    return [(of.names[events.name[row]], of.ops.name[events.op[row]]) for row in rows.tolist()]


@pytest.mark.parametrize(("program", "count", "graphs"), [("h200", 120, 88), ("h200_transformer", 867, 867)])
def test_each_kernel_has_the_instruction_that_xla_names_without_command_buffers(
    program: str, count: int, graphs: int
) -> None:
    found, named = recording(f"{program}_graphs"), recording(f"{program}_named")
    assert len(kernels(found)) == count
    assert [op for _, op in kernels(found)] == [op for _, op in kernels(named)]
    by_order = found.ops.by_order[found.events.op[found.events.op >= 0]]
    assert by_order.sum() == graphs
    assert not named.ops.by_order.any()


def test_kernels_of_a_library_are_among_them() -> None:
    library = [op for kernel, op in kernels(recording("h200_transformer_graphs")) if kernel.startswith("nvjet")]
    assert len(library) == 3 * 33 and all(op.startswith("custom-call") for op in library)


def test_their_lines_are_those_of_the_named_profile_and_inferred(tmp_path: Path) -> None:
    lines = {}
    for name in ("graphs", "named"):
        path = tmp_path / f"{name}.xplane.pb"
        path.write_bytes(gzip.decompress((PROFILES / f"h200_{name}.xplane.pb.gz").read_bytes()))
        columns = opening.open_profile(path).by_line().columns
        lines[name] = dict(zip(columns["line"].values, columns["count"].values, strict=True))
        inferred = dict(zip(columns["line"].values, columns["inferred"].values, strict=True))
        if name == "graphs":
            assert inferred["train.py:21"] and inferred["train.py:22"]
    assert lines["graphs"] == lines["named"] and "unknown" not in lines["graphs"]


LAYERS = ["gemm.1", "cc.1", "add.1", "gemm.2", "cc.2", "add.2", "gemm.3", "cc.3", "add.3"]
OPCODES = [b"fusion", b"custom-call", b"fusion"] * 3


@pytest.fixture
def launches() -> _Launches:
    return _Launches(LAYERS, OPCODES)


def test_equal_fusions_share_a_kernel_and_order_tells_which_ran(launches: _Launches) -> None:
    graph = ["gemm_1", "nvjet", "add_1", "gemm_1", "Memset 0", "nvjet", "add_1", "gemm_1", "nvjet", "add_1"]
    expected = ["gemm.1", "cc.1", "add.1", "gemm.2", "cc.2", "cc.2", "add.2", "gemm.3", "cc.3", "add.3"]
    assert launches.instructions([graph], ()) == [expected]


def test_of_several_graphs_each_has_its_part_of_the_schedule(launches: _Launches) -> None:
    graphs = [["gemm_1", "nvjet", "add_1"], ["gemm_1", "nvjet", "add_1"], ["gemm_1", "nvjet", "add_1"]]
    assert launches.instructions(graphs, ()) == [LAYERS[:3], LAYERS[3:6], LAYERS[6:]]


def test_kernels_of_another_program_are_of_no_instruction(launches: _Launches) -> None:
    assert launches.instructions([["gemm_9", "gemm_8", "gemm_7", "gemm_6", "gemm_5", "gemm_4", "gemm_3"]], ()) == [
        [""] * 7
    ]
    assert launches.instructions([["sort", "scan"]], ()) == [["", ""]]
    assert launches.instructions([], ()) == []


def test_two_library_kernels_for_one_call_are_both_its_and_three_for_two_are_of_neither() -> None:
    one = _Launches(["a.1", "cc.1", "b.1"], [b"fusion", b"custom-call", b"fusion"])
    assert one.instructions([["a_1", "split", "reduce", "b_1"]], ()) == [["a.1", "cc.1", "cc.1", "b.1"]]
    two = _Launches(["a.1", "cc.1", "cc.2", "b.1"], [b"fusion", b"custom-call", b"custom-call", b"fusion"])
    assert two.instructions([["a_1", "x", "y", "z", "b_1"]], ()) == [["a.1", "", "", "", "b.1"]]
    assert two.instructions([["a_1", "x", "Memset 0", "y", "b_1"]], ()) == [["a.1", "cc.1", "cc.2", "cc.2", "b.1"]]


def test_what_stays_unnamed_says_how_xla_names_it() -> None:
    headline = Headline(Bound.DEVICE, devices=1, window=1.0, busy=0.7, idle=0.3, op="command_buffer_1", op_share=1.0)
    assert "xla_gpu_enable_command_buffer=" in timeline_wording.sentence(headline)
    other = Headline(Bound.DEVICE, devices=1, window=1.0, busy=0.7, idle=0.3, op="fusion.1", op_share=1.0)
    assert "--command-buffers off" not in timeline_wording.sentence(other)

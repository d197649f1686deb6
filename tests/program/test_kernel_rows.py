"""Kernels tied to instructions, where the dump says little."""

from __future__ import annotations

from jaxstage_ext.ir.hlo.executed import Instruction
from jaxstage_ext.ir.machine.kernel_artefacts import KernelArtefacts, Launch
from jaxstage_ext.program.machine_code.kernel_rows import of_cpu, of_cuda, of_tpu
from jaxstage_ext.program.machine_code.kernel_types import Kernel
from jaxstage_ext.report.document import document
from jaxstage_ext.report.frames import Frames

PTX = {"ptx": b"", "llvm": b"", "llvm0": b""}
HLO = [
    "%add.1 = f32[] add(%a, %b)",
    "%add.2 = f32[] add(%c, %d)",
    "%dot = f32[] dot(%a, %b)",
    "%add.3 = f32[2] add(%c, %d)",
]


def made(*names: str, kind: str = "loop fusion", computes: bool = True) -> dict[str, Instruction]:
    return {name: Instruction(name, kind, kind, i, ((i, i),), computes) for i, name in enumerate(names)}


def tied(rows: list[Kernel]) -> dict[str, tuple[str, ...]]:
    return {row.key: row.instructions for row in rows}


def test_what_launches_a_kernel_ties_it_whatever_it_is_called() -> None:
    launches = [
        Launch("fusion.1", "CustomKernel", "fusion_7", (1, 1, 1), (32, 1, 1), 8),
        Launch("fusion.2", "CustomKernel", "fusion_7", (9, 1, 1), (32, 1, 1), 8),
        Launch("copy.3", "Copy"),
        Launch("while.4", "While"),
        Launch("", "Copy"),
    ]
    rows = of_cuda(KernelArtefacts({"fusion_7": PTX}, launches, []), made("fusion.1", "fusion.2", "copy.3"))
    assert tied(rows) == {"fusion_7": ("fusion.1", "fusion.2"), "copy.3": ("copy.3",)}
    assert rows[0].grid == (1, 1, 1)


def test_a_collective_of_xlas_own_is_tied_by_its_name() -> None:
    launches = [Launch("psum.7.0-fusion", "AllReduce"), Launch("all-gather", "AllGather")]
    rows = of_cuda(KernelArtefacts({"psum_7_0_fusion": PTX}, launches, []), made("psum.7.0-fusion", "all-gather"))
    assert tied(rows) == {"psum_7_0_fusion": ("psum.7.0-fusion",), "all-gather": ("all-gather",)}
    assert not rows[1].name


def test_without_a_list_of_launches_names_tie() -> None:
    executed = made("fusion.1", "loop_add.2") | made("tuple", computes=False)
    rows = of_cuda(KernelArtefacts({"fusion_1": PTX, "of_another_module": PTX}, [], []), executed)
    assert tied(rows) == {"fusion_1": ("fusion.1",), "loop_add.2": ("loop_add.2",), "of_another_module": ()}
    assert rows[-1].kind == "not in this module"


def test_what_computes_the_same_shares_a_cpu_kernel_and_only_that() -> None:
    executed = made("add.1", "add.2") | {"dot": Instruction("dot", "dot", "dot", 2, ((2, 2),))}
    executed["add.3"] = Instruction("add.3", "fusion", "loop fusion", 3, ((3, 3),))
    hlo = document("hlo", HLO, Frames())
    rows = of_cpu(KernelArtefacts({"add.1_kernel": {"object": b""}}, [], []), executed, hlo)
    assert tied(rows) == {"add.1_kernel": ("add.1", "add.2"), "dot": ("dot",), "add.3": ("add.3",)}
    reasons = {row.key: row.stages["llvm"] for row in rows}
    assert "a library or XLA's runtime" in str(reasons["dot"])
    assert "dumped no kernel by its name" in str(reasons["add.3"])


def test_on_tpus_only_pallas_kernels_have_mosaic() -> None:
    executed = made("fusion") | {"k": Instruction("k", "custom-call", "custom-call to tpu_custom_call", 1, ((1, 1),))}
    rows = {row.key: row for row in of_tpu(executed)}
    assert rows["k"].kind == "Pallas"
    assert rows["k"].stages["mosaic"] is None
    assert "not a Pallas kernel" in str(rows["fusion"].stages["mosaic"])

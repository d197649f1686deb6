"""The log of XLA's pass pipeline."""

from __future__ import annotations

from jaxstage_ext.worker.inside import pass_log
from jaxstage_ext.worker.inside.pass_log import Ran


def line(what: str, thread: int = 7) -> str:
    return f"I1121 13:21:36.964812   {thread} hlo_pass_pipeline.cc:211] {what}\n"


def done(name: str, us: int, thread: int = 7) -> str:
    return line(f"HLO pass: {name} time: {us / 1000} ms ({us} us) (cumulative: 9 ms, max: 3 ms, #called: 4)", thread)


def begun(name: str, thread: int = 7) -> str:
    return line(f"  HLO pass {name}", thread)


def pipeline(name: str, module: str = "jit_f", thread: int = 7) -> str:
    return line(f"Running HLO pass pipeline on module {module}: {name}", thread)


def test_passes_with_their_times_and_successors() -> None:
    log = pipeline("clean up") + begun("dce") + done("dce", 86) + begun("cse") + done("cse", 3022)
    assert pass_log.read(log, "jit_f") == [
        Ran("clean up"),
        Ran("clean up", "dce", 86e-6, "cse"),
        Ran("clean up", "cse", 3022e-6, ""),
    ]


def test_a_pipeline_inside_another() -> None:
    inner = pipeline("simplify") + begun("dce") + done("dce", 5)
    log = pipeline("all") + begun("simplify") + inner + inner + done("simplify", 20) + begun("cse") + done("cse", 1)
    ran = pass_log.read(log, "jit_f")
    assert [(r.pipeline, r.name, r.group) for r in ran] == [
        ("all", "", False),
        ("simplify", "", False),
        ("simplify", "dce", False),
        ("simplify", "", False),
        ("simplify", "dce", False),
        ("all", "simplify", True),
        ("all", "cse", False),
    ]


def test_other_modules_threads_and_lines_are_left_out() -> None:
    log = (
        "E1121 13:21:36.9 7 other.cc:1] HLO pass dce\n"
        + pipeline("all")
        + begun("dce")
        + pipeline("tune", "gemm_candidate", thread=8)
        + begun("cse", thread=8)
        + done("cse", 9, thread=8)
        + pipeline("fold", "folded_constant")
        + begun("cse")
        + done("cse", 2)
        + done("dce", 5)
    )
    names = [r.name for r in pass_log.read(log, "jit_f") if r.name]
    assert names == ["dce"]


def test_the_dump_may_name_the_module_longer_than_the_log_does() -> None:
    log = pipeline("all") + begun("dce") + done("dce", 5)
    assert pass_log.read(log, "jit_f.cl_1004524046") == pass_log.read(log, "jit_f") != []
    assert pass_log.read(log, "jit_fg") == []
    assert pass_log.read("", "jit_f") == []

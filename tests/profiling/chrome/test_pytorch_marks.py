"""PyTorch's marks: a step or a range that the profiler repeats on the device is one, and accelerators are devices."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.profiling.analysis import timeline_facts
from jaxstage_ext.profiling.opening import open_profile
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.report.recording import EventKind


def event(cat: str, name: str, ts: int, dur: int, pid: int = 1, tid: int = 1, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid, "args": args}


def label(pid: int, text: str) -> dict[str, Any]:
    return {"ph": "M", "name": "process_labels", "pid": pid, "args": {"labels": text}}


def opened(*events: dict[str, Any]) -> Timeline:
    return open_profile(json.dumps({"traceEvents": events}).encode())


def steps_of(cat: str, pid: int, count: int, length: int) -> list[dict[str, Any]]:
    return [event(cat, f"ProfilerStep#{number}", 100 * number, length, pid, 7) for number in range(count)]


def test_a_step_that_the_device_repeats_is_one_step() -> None:
    """Three steps of the host of 90 us, each with 30 us of marks on the device."""
    kernel = event("kernel", "k", 10, 20, 0, 7, device=0, stream=7)
    timeline = opened(
        kernel, *steps_of("user_annotation", 1, 3, 90), *steps_of("gpu_user_annotation", 0, 3, 30), label(0, "GPU 0")
    )
    assert list(timeline.steps()["step"]) == [f"ProfilerStep#{number}" for number in range(3)]
    assert list(timeline.steps()["duration"]) == pytest.approx([90e-6] * 3)


def test_steps_of_the_device_alone_are_steps() -> None:
    timeline = opened(*steps_of("gpu_user_annotation", 0, 2, 30), event("kernel", "k", 10, 20, 0, 7), label(0, "GPU 0"))
    assert len(timeline.steps()) == 2


def test_a_range_that_the_device_repeats_is_counted_once() -> None:
    timeline = opened(
        event("user_annotation", "forward", 0, 50),
        event("gpu_user_annotation", "forward", 20, 40, 0, 7),
        event("gpu_user_annotation", "only here", 70, 5, 0, 7),
        event("kernel", "k", 20, 40, 0, 7),
        label(0, "GPU 0"),
    )
    rows = {row["range"]: (row["count"], row["total"]) for row in timeline.by_range().rows()}
    assert rows == {"forward": (1, pytest.approx(50e-6)), "only here": (1, pytest.approx(5e-6))}


@pytest.mark.parametrize(
    ("cat", "pid_label"),
    [
        ("mtia_ccp_events", "MTIA 9"),
        ("hpu_op", "HPU 9"),
        ("kernel_of_something", "NPU 9"),
        ("xpu_kernel", "XPU 9"),
        ("privateuse1_op", "PrivateUse1 9"),
    ],
)
def test_an_accelerator_of_any_kind_is_a_device(cat: str, pid_label: str) -> None:
    timeline = opened(
        event("cpu_op", "aten::mm", 0, 50),
        event(cat, "gemm", 20, 30, 9, 8),
        event(cat, "event_wait", 50, 40, 9, 8),
        event(cat, "dma_request", 90, 10, 9, 8),
        label(9, pid_label),
        label(1, "CPU"),
    )
    [row] = timeline.busy().rows()
    assert (row["device"], row["busy"], row["copy"]) == (pid_label, pytest.approx(40e-6), pytest.approx(10e-6))


def test_a_device_is_known_by_its_category_where_no_label_is() -> None:
    assert len(opened(event("mtia_ccp_events", "gemm", 0, 30, 9, 8)).busy()) == 1


def test_runtime_calls_of_an_accelerator_stay_on_the_host() -> None:
    timeline = opened(event("mtia_runtime", "runFunction", 0, 30), event("kernel", "k", 0, 10, 0, 7), label(0, "GPU 0"))
    assert len(timeline.busy()) == 1


@pytest.mark.parametrize("name", ["codegen_fused_op", "CompiledFunctionBackward", "torch_compile_region"])
def test_the_name_of_an_operator_does_not_make_it_a_compile(name: str) -> None:
    timeline = opened(event("glow_ops", name, 0, 30), event("kernel", "k", 0, 10, 0, 7), label(0, "GPU 0"))
    assert EventKind.COMPILE not in timeline.recording.events.kind


@pytest.mark.parametrize(
    ("text", "is_device"),
    [("MTIA 17", True), ("XPU 0", True), ("NPU 3", True), ("Word 3", False), ("Worker 3", False), ("RANK 2", False),
     ("CPU 0", False), ("my-process 7", False)],
)  # fmt: skip
def test_a_label_is_a_device_only_where_it_is_the_name_of_an_accelerator(text: str, is_device: bool) -> None:
    """PyTorch writes the kinds of its devices in capitals; other programs label processes with any word and number."""
    trace = {"traceEvents": [label(9, text), event("kernel", "work", 0, 50, pid=9), event("cpu_op", "b", 0, 9, pid=1)]}
    lanes = open_profile(json.dumps(trace).encode(), "trace.json").recording.lanes
    assert (text in {lane.group for lane in lanes}) == is_device


def kernels_of_two_gpus() -> list[dict[str, Any]]:
    labels = [label(pid, f"GPU {pid}") for pid in (0, 1)]
    return [*labels, *(event("kernel", f"sgemm_{pid}", 10 * pid, 30, pid=pid, tid=7) for pid in (0, 1))]


def test_a_trace_without_lines_and_hlo_opens_with_its_kernels() -> None:
    made = opened(*kernels_of_two_gpus())
    assert made.opens_with == "kernels"
    assert "sgemm_0" in str(made).split("\n\n")[1]
    head, _ = dispatch.answer([RecordedProgram(made)], "timeline head", {"call": 0})
    while "pending" in head:
        head, _ = dispatch.answer([RecordedProgram(made)], "timeline head", {"call": 0})
    assert head["tables"][0] == "kernels"
    assert not {"lines", "ops"} & set(head["tables"])


def test_times_of_several_devices_together_are_called_device_seconds() -> None:
    """Each is busy 30 of the 40 us between the first kernel's start and the last one's end."""
    made = opened(*kernels_of_two_gpus())
    assert timeline_facts.window_text(made).startswith("2 devices busy 60 µs of ")
    assert "device-seconds" in timeline_facts.window_text(made)
    assert all("device-seconds" in made.by_kernel().columns[name].doc for name in ("busy", "self", "total"))
    alone = opened(*kernels_of_two_gpus()[::2])
    assert "device-seconds" not in timeline_facts.window_text(alone)

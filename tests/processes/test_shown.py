"""What a process of a real job shows of all: who holds which slice, all compile logs as one, and why no entry is hit.

The oracles: JAX's own addressable shards, the order and the pauses that the job's script has, and the cache's files.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from several_processes import run_job

from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.api.load import load
from jaxstage_ext.compilation.records.compile_record import CacheOutcome
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.processes.gathered_compiles import gathered_compiles
from jaxstage_ext.processes.shown_job_compiles import JobCompiles
from jaxstage_ext.profiling.analysis.collective_waits import collective_waits
from jaxstage_ext.profiling.common_clock.clock_alignment import aligned
from jaxstage_ext.profiling.opening import open_recording
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.report.recording import HostClocks, Recording
from jaxstage_ext.report.unavailable import Unavailable

Told = list[dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shown")
    (made / "cache").mkdir()
    return made


@pytest.fixture(scope="module")
def told(folder: Path) -> Told:
    records = {"JAXSTAGE_RECORDS_DIR": str(folder / "records")}
    told = run_job("shown.py", folder, str(folder / "cache"), environments=(records, records))
    assert all(told), [(folder / f"{process}.txt").read_text()[-3000:] for process in (0, 1)]
    return told


@pytest.fixture(scope="module")
def merged(told: Told) -> JobCompiles:
    def ask(function: str, *arguments: Any, only: Any = None) -> list[Any]:
        """As engines answer, of what was written before."""
        values = [one["log"] for one in told]
        if function.endswith(":cache_keys"):
            values = [{int(n): key for n, key in one["keys"].items() if int(n) in arguments[0]} for one in told]
        replies = [SimpleNamespace(process=at, value=value, failure=None) for at, value in enumerate(values)]
        return [one for one in replies if only is None or one.process in only]

    return gathered_compiles(ask)


def slices(bounds: list[list[int]]) -> str:
    return f"[{', '.join(f'{start}:{stop}' for start, stop in bounds)}]"


@pytest.mark.parametrize("process", [0, 1])
def test_each_says_which_slice_it_holds_and_which_the_other(told: Told, process: int) -> None:
    said, held = told[process]["inspected"]["live"], [one["held"]["x"][0] for one in told]
    assert f"({process})" in said.split("\n")[-1] and slices(held[process]) in said.split("\n")[-1]
    for other, device in enumerate((0, 2048)):
        [line] = [line for line in said.split("\n") if line.startswith(slices(held[other]))]
        assert line.split()[-3:] == [str(device), "(process", f"{other})"]
    assert "2 devices of 2 processes, 1 of them" in told[process]["inspected"]["targets"]
    assert told[process]["inspected"]["memory"] == "this machine"
    text = " ".join(told[process]["inspected"]["text"].replace("│", " ").split())
    assert "Its devices are of 2 processes" in text and "of this machine (<1%)" in text


@pytest.mark.parametrize("process", [0, 1])
def test_the_shape_of_what_a_process_holds_is_beside_the_others(told: Told, process: int) -> None:
    made = Inspection.from_json(told[process]["inspected"]["saved"])
    table = {row["value"]: row for row in made.shardings.table.rows()}
    for name in ("x", "w"):
        [bounds] = told[process]["held"][name]
        assert table[name]["per process"] == f"f32[{','.join(str(stop - start) for start, stop in bounds)}]"
    assert (table["x"]["type"], table["x"]["shard"], table["w"]["copies"]) == ("f32[6,4]", "f32[3,4]", 2)
    assert str(made.shardings) == told[process]["inspected"]["map"]
    assert "shardings" in json.loads(told[process]["inspected"]["saved"])["summary"]["views"]
    assert [(place.id, place.process) for place in made.shardings.places] == [(0, 0), (2048, 1)]
    with pytest.raises(Unavailable):
        _ = made.shardings.intermediates


@pytest.mark.parametrize("process", [0, 1])
def test_an_array_that_is_elsewhere_says_where(told: Told, process: int) -> None:
    said, other = told[process]["elsewhere"], 1 - process
    assert f"({process}) holds nothing of it; it is on process {other}" in said["live"]
    assert f"process {other}" in said["memory"] and str(2048 * other) in said["map"].split("\n")[-1]
    refused = said["refused"]
    assert refused.startswith("2 devices of 2 processes"), "ids leave gaps: there is no device 1 to 2047"
    assert "devices 0, 2048" in refused and f"device {2048 * other}" in refused


def test_the_log_of_all_has_their_order_and_who_waited(told: Told, merged: JobCompiles) -> None:
    assert merged.missing == {} and merged.shares_clock
    names = {one.name[0] for one in merged.programs if one.time == 0 and not one.is_eager}
    assert names == {"first", "second", "third"}
    difference = merged.order_difference
    assert difference is not None
    assert {name[0]: processes for name, processes in difference.compiled.items()} == {"first": (0,), "second": (1,)}
    waits = {one.name[0]: merged.waited(one) for one in merged.programs if one.time == 0}
    assert waits["third"] is not None and waits["third"] > 0.25, "process 1 pauses 0.3 s after process 0 had it"
    own = [(row["process"], row["processes"]) for row in merged.table().rows() if row["program"].startswith("own_work")]
    assert sorted(own) == [(0, "0"), (1, "1")]


def test_process_0_writes_and_hits_and_the_other_never_does(told: Told, merged: JobCompiles, folder: Path) -> None:
    first, second = merged.cache_uses
    files = [name for name in os.listdir(folder / "cache") if name.endswith("-cache")]
    written = {row["key"] for row in told[0]["log"]["rows"] if row["cache"] == CacheOutcome.WRITTEN.name}
    assert written and written <= {name.removesuffix("-cache") for name in files}
    assert first.outcomes[CacheOutcome.HIT] == 1 and second.asked == first.asked
    assert {*second.outcomes} == {CacheOutcome.NOT_FIRST_PROCESS}
    assert not {row["key"] for row in told[1]["log"]["rows"]} & {name.removesuffix("-cache") for name in files}
    is_said = [any("never finds" in line for line in one["inspected"]["cache"].split("\n")) for one in told]
    assert is_said == [False, True]


def test_the_keys_differ_by_the_fingerprint_of_the_devices_and_of_own_programs_by_their_device_too(
    told: Told, merged: JobCompiles
) -> None:
    assert merged.keys
    for compared in merged.keys.values():
        assert [(one.part, one.is_fingerprint) for one in compared.differences] == [(KeyPart.DEVICES, True)]
    own = [
        next(one["keys"][str(row["number"])] for row in one["log"]["rows"] if row["program"] == "own_work")
        for one in told
    ]
    assert own[0]["options"]["device_assignment"] != own[1]["options"]["device_assignment"]


def test_profiles_of_both_are_on_one_clock_on_which_they_exchange_at_the_same_time(told: Told, folder: Path) -> None:
    opened = load([folder / "profile0", folder / "profile1"])
    assert isinstance(opened, Timeline)
    recording = opened.recording
    assert recording.clocks is HostClocks.ONE_MACHINE and recording.hosts == ("process 0", "process 1")
    events, exchanges = recording.events, {0: list[tuple[int, int]](), 1: list[tuple[int, int]]()}
    for at in np.argsort(events.start):
        if recording.names[events.name[at]].startswith("all-reduce"):
            exchanges[recording.lanes[events.lane[at]].host].append((int(events.start[at]), int(events.end[at])))
    assert len(exchanges[0]) >= 2
    last = [exchanges[process][-2:] for process in (0, 1)]
    for mine, its in zip(*last, strict=True):
        assert mine[0] < its[1] and its[0] < mine[1], "one had ended before the other began"
    latest = collective_waits(recording, opened.places).latest()
    assert latest is not None and latest.process == 1, "it sleeps before each step"
    assert latest.line.endswith("shown.py:43")
    assert 0.005 < latest.typical < 0.1 and latest.times >= 5


SHIFT = 3_200_000
"""Nanoseconds."""


def test_clocks_that_are_one_are_found_to_be_and_a_known_shift_is_found(folder: Path) -> None:
    first, second = (open_recording(folder / f"profile{process}") for process in (0, 1))
    placed = aligned([first, second])
    [skew] = placed.skews
    assert placed.clocks is HostClocks.ONE_MACHINE and skew.count >= 6
    assert abs(skew.ahead) < 10**9, "a millisecond of scheduling at most"
    assert skew.is_by_order, "process 0 has its program from the cache, so its launches have other numbers"
    assert second.origin is not None and placed.later == by_starts(first, second)
    elsewhere = replace(second, origin=second.origin + SHIFT, hosts=("there",))
    shifted = aligned([first, elsewhere])
    assert shifted.clocks is HostClocks.COLLECTIVES
    assert shifted.skews[0].ahead - skew.ahead == SHIFT * 1000
    assert [late + skew.ahead * at for at, late in enumerate(shifted.later)] == list(by_starts(first, second))


def by_starts(*recordings: Recording) -> tuple[int, ...]:
    origins = [recording.origin or 0 for recording in recordings]
    return tuple((origin - min(origins)) * 1000 for origin in origins)

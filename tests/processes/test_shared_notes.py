"""Who compiled and who read, from what processes tell: plain data, no process and no compiler."""

from __future__ import annotations

from typing import Any

import pytest

from jaxstage_ext.core.executable_sharing import Sharing
from jaxstage_ext.processes.arrival import ComparedPart
from jaxstage_ext.processes.staged import staged_wording as wording
from jaxstage_ext.processes.staged.process_staging import CallStaging, ProcessStaging
from jaxstage_ext.processes.staged.shared_compiles import compile_notes
from jaxstage_ext.processes.staged.staged_groups import staged_groups
from jaxstage_ext.processes.staged.staged_processes import StagedProcesses

pytestmark = pytest.mark.once("plain data: nothing of JAX's")
ALL = (0, 1, 2)


def told(by: int | None, sharing: Sharing | None, spans: bool | None = True) -> CallStaging:
    digests = {ComparedPart.STABLEHLO: "0"}
    return CallStaging("f", "jit_f", "", digests, {"compile": 5.0}, spans, None, by, sharing)


def notes(*calls: CallStaging) -> list[str]:
    return compile_notes([tuple(range(len(calls)))], dict(enumerate(calls)))


def test_who_read_is_said_by_who_compiled() -> None:
    read = told(1, Sharing.READ)
    assert notes(read, told(1, Sharing.COMPILED), read) == [wording.read_from(1, (0, 2))]
    assert notes(told(0, Sharing.COMPILED), read, told(0, Sharing.READ))[1:] == [], "what process 1 has is its own"


def test_absent_devices_are_compiled_by_one_too() -> None:
    assert notes(*(told(2, None, None) for _ in ALL)) == [wording.read_from(2, (0, 1))]
    assert notes(*(told(at, None, None) for at in ALL)) == notes(*(told(None, None) for _ in ALL)) == []


@pytest.mark.parametrize("why", [why for why in Sharing if why not in (Sharing.READ, Sharing.OWN_DEVICES)])
def test_why_each_compiled_is_said(why: Sharing) -> None:
    assert notes(*(told(at, why) for at in ALL)) == [wording.each_compiled(ALL, why)]
    assert notes(told(0, why)) == []


def test_a_program_of_one_s_own_devices_is_never_shared() -> None:
    for why in (Sharing.OWN_DEVICES, Sharing.PYTHON):
        assert notes(*(told(at, why, False) for at in ALL)) == [wording.each_compiled(ALL, Sharing.OWN_DEVICES)]


def test_the_table_has_who_compiled_where_anybody_read() -> None:
    calls = {0: told(0, Sharing.COMPILED), 1: told(0, Sharing.READ), 2: told(None, None)}

    def table(of: dict[int, CallStaging]) -> list[dict[str, Any]]:
        seconds = {at: call.seconds for at, call in of.items()}
        return list(StagedProcesses("compile", staged_groups(of), (), {}, seconds, calls=of).table().rows())

    assert [(row["compile"], row["compiled by"]) for row in table(calls)] == [(5.0, 0), (5.0, 0), (5.0, None)]
    assert "compiled by" not in table({at: told(at, Sharing.COMPILED) for at in ALL})[0]


def test_what_a_process_tells_survives_the_wire() -> None:
    staging = ProcessStaging(1, "host", (told(0, Sharing.READ), told(None, None)))
    assert ProcessStaging.from_dict(staging.to_dict(), 1) == staging

"""Instructions of a schedule found in the module that later passes left."""

from __future__ import annotations

import pytest

from jaxstage_ext.analysis.predicted import schedule_match
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.schedules import written_schedule
from tests.golden.schedules.record import NAMES, VERSIONS, kept
from tests.helpers.written_schedules import Scheduled, module


def found(*instructions: Scheduled) -> dict[str, str]:
    """What each is called in the module that is shown; left out where it is not found."""
    scheduled, shown = hlo.parse(module(instructions)), hlo.parse(module(instructions, shown=True))
    rows = schedule_match.match(scheduled, shown).row.tolist()
    return {
        name.decode(): shown.names[row].decode() for name, row in zip(scheduled.names, rows, strict=True) if row >= 0
    }


X = Scheduled("x", opcode="parameter")


def test_by_name_then_by_opcode_and_operands() -> None:
    renamed = Scheduled("fusion.1", operands=("x",), shown="wrapped_add")
    user = Scheduled("fusion.2", operands=("fusion.1",), shown="wrapped_mul")
    assert found(X, renamed, user) == {"x": "x", "fusion.1": "wrapped_add", "fusion.2": "wrapped_mul"}


def test_what_several_may_be_is_not_guessed() -> None:
    alike = [Scheduled(f"fusion.{n}", operands=("x",), shown=f"wrapped.{n}") for n in range(2)]
    assert found(X, *alike) == {"x": "x"}
    assert found(X, Scheduled("fusion.1", operands=("x",), shown=None), alike[0]) == {"x": "x"}


def test_a_name_is_not_given_twice() -> None:
    assert list(found(X, Scheduled("a", operands=("x",)), Scheduled("b", operands=("a",), shown="a.1")).values()) == [
        *("x", "a", "a.1")
    ]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_all_of_real_schedules_but_what_became_one_is_found(version: str, name: str) -> None:
    schedule, shown = kept(version, name)
    read, module = written_schedule.read(schedule), hlo.parse(shown)
    rows = schedule_match.match(read.module, module).row
    lost = [name.decode() for name, row in zip(read.module.names, rows.tolist(), strict=True) if row < 0]
    assert all("-done" in name for name in lost) and len(lost) <= 5  # of pairs that became one instruction
    assert len(set(rows.tolist())) == len(rows) - max(len(lost) - 1, 0)

"""The kernel answers in the form that was recorded for the front end's tests, which read the same file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from jaxstage_ext.panel.requests import dispatch
from tests.replies import record

MEND = "run `python tests/replies/record.py`, then the front end's tests"


def form(value: Any) -> Any:
    """JSON with a type's name for each value; a list has the form of its entries, a null any form."""
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [merged([form(inner) for inner in value])] if value else []
    return None if value is None else "number" if type(value) in (int, float) else type(value).__name__


def merged(forms: list[Any]) -> Any:
    """One form for the entries of a list: that of the first, with what the others know where it has null."""
    known = [one for one in forms if one is not None]
    if known and all(isinstance(one, dict) for one in known):
        return {
            key: merged([one[key] for one in known if key in one]) for key in dict.fromkeys(k for o in known for k in o)
        }
    return max(known, key=lambda one: len(json.dumps(one)), default=None)


def differences(now: Any, recorded: Any, place: str) -> Iterator[str]:
    """Where two forms differ; what is null or empty on one side may be anything on the other."""
    if now in (None, [], {}) or recorded in (None, [], {}):
        return
    if isinstance(now, dict) and isinstance(recorded, dict):
        if place.endswith(BY_NAME):
            return
        for missing, how in ((now.keys() - recorded.keys(), "new"), (recorded.keys() - now.keys(), "gone")):
            yield from (f"{place}.{key} is {how}" for key in missing if not f"{place}.{key}".endswith(MEASURED))
        for key in now.keys() & recorded.keys():
            yield from differences(now[key], recorded[key], f"{place}.{key}")
    elif isinstance(now, list) and isinstance(recorded, list):
        yield from differences(now[0], recorded[0], f"{place}[]")
    elif now != recorded:
        yield f"{place} is {now}, was {recorded}"


BY_NAME = (".options", ".figures", ".lacks", ".strings", ".reasons", ".more")
"""Objects whose keys are names of the program's own."""
MEASURED = (".cells.compile.mark",)
"""What is there where two measured times differ as they are written."""


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    return json.loads(json.dumps(record.record()))


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return json.loads(record.RECORDED.read_text())


def test_every_method_is_recorded(recorded: dict[str, Any]) -> None:
    methods = {reply["method"] for reply in recorded["replies"]}
    assert methods == set(dispatch.methods()) - set(record.WITHOUT_REPLY), MEND


def test_replies_have_the_recorded_form(now: dict[str, Any], recorded: dict[str, Any]) -> None:
    wrong = []
    for mine, theirs in zip(now["replies"], recorded["replies"], strict=True):
        assert mine["method"] == theirs["method"], MEND
        wrong += differences(form(mine["result"]), form(theirs["result"]), mine["method"])
        if len(mine["buffers"]) != len(theirs["buffers"]) and mine["method"] != "lane":
            wrong.append(f"{mine['method']} has {len(mine['buffers'])} buffers, had {len(theirs['buffers'])}")
    assert not wrong, MEND


def test_figures_are_written_as_recorded() -> None:
    assert json.loads(json.dumps(record.figures())) == json.loads(record.FIGURES.read_text()), MEND


def test_states_have_the_recorded_form(now: dict[str, Any], recorded: dict[str, Any]) -> None:
    assert not list(differences(form(now["states"]), form(recorded["states"]), "states")), MEND

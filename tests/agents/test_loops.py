"""Ten loops of find, change, try and stop, each from the product's outputs alone, in ten calls and 20,000 tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import compiled_once
import pytest
from absent import needs
from agents.faults import FAULTS, Fault
from agents.oracles import ORACLES
from agents.reader import ROOT, Reading, called, loop

MOST_CALLS, MOST_TOKENS = 10, 20_000
OFTEN = ("promotion", "undonated_state", "gathered_rows")
"""Those of `make test`: one for each way to ask, on v5e and h100."""
_GAINS_NOTHING = ("Tried: it adds", "Tried: it saves nothing", "Tried: no change in HLO")
_FACTS = re.compile(
    r"""^\#\#\ .*| ^-\ \[.*?\] | ^→.* | ^Findings:.* | "(?:id|change)":\ "(?:[^"\\]|\\.)*" """, re.M | re.X
)
"""Of a transcript: what was asked, which findings there were and at which lines, and what to write."""


_SELDOM = pytest.mark.seldom("a loop of each kind runs in every test; what findings say is tested where they are found")
EACH = [pytest.param(one, id=one.name, marks=[] if one.name in OFTEN else _SELDOM) for one in FAULTS]


@pytest.fixture(scope="module", autouse=True)
def shared_answers() -> Iterator[None]:
    with compiled_once.kept():
        yield


def facts(calls: list[str], answers: list[str]) -> list[str]:
    text = "\n".join(f"## {call}\n{answer}" for call, answer in zip(calls, answers, strict=True))
    return _FACTS.findall(text)


def stops(reading: Reading) -> bool:
    """Whether nothing is left: all was looked for, and of what was found no change gains anything."""
    tried = [one.get("tried", "") for one in reading.left["findings"]]
    return not reading.left["not_looked_for"] and all(any(one in text for one in _GAINS_NOTHING) for text in tried)


@pytest.mark.parametrize("fault", EACH)
@pytest.mark.once("findings of both versions are tested where they are found")
def test_a_fault_is_found_and_mended_from_the_outputs_alone(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(fault.target)
    monkeypatch.chdir(ROOT)
    reading = loop(fault)
    assert reading.edited == fault.mended.read_text()
    said = "\n".join(reading.answers[:3]).replace("\\n", "\n")
    assert [piece for piece in fault.taken if piece not in said] == []
    assert stops(reading), json.dumps(reading.left)
    assert len(reading.calls) <= MOST_CALLS
    assert reading.tokens <= MOST_TOKENS
    assert facts(reading.calls, reading.answers) == _FACTS.findall(fault.transcript.read_text())


@pytest.mark.parametrize("fault", EACH)
@pytest.mark.once("plain JAX says of ten files what was wrong with them")
def test_plain_jax_says_that_it_is_mended(fault: Fault) -> None:
    ask, before, after = ORACLES[fault.name]
    answers = [ask(*called(fault, file)) for file in (fault.program, fault.mended)]
    if isinstance(answers[0], tuple):  # what it gives beside what was wrong: the same of both
        assert answers[0][1] == answers[1][1]
        answers = [answer for answer, _ in answers]
    assert answers == [before, after]

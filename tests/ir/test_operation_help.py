"""Every operation of real programs has a sentence."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from jaxstage_ext.ir.operation_help import HELP, sentence

GOLDEN = Path(__file__).parent.parent / "golden"
HLO = re.compile(r"│ +(?:ROOT )?%\S+ = (?:\([^=]*?\)|\S+) ([a-z][a-z0-9-]*)\(")
STABLEHLO = re.compile(r"(?<!#)\bstablehlo\.([a-z_0-9]+)")
JAXPR = re.compile(r":[a-z0-9<>]+\[[^\]]*\] = ([a-z][a-z_0-9]*)(?:\[| )")
NO_OPERATIONS = {"mesh", "one_minus_square"}
"""An attribute, and a function of the golden programs by whose name JAX prints its call."""


def operations(kind: str) -> Counter[str]:
    """The operations in the golden files of a kind, and how often each stands there."""
    pattern, name = {
        "hlo": (HLO, "hlo.golden"),
        "stablehlo": (STABLEHLO, "stablehlo.mlir"),
        "jaxpr": (JAXPR, "jaxpr.golden"),
    }[kind]
    found: Counter[str] = Counter()
    for path in GOLDEN.rglob(name):
        found.update(pattern.findall(path.read_text()))
    return found


@pytest.mark.parametrize(("kind", "least"), [("hlo", 30), ("stablehlo", 20), ("jaxpr", 10)])
def test_every_operation_of_the_golden_files_has_a_sentence(kind: str, least: int) -> None:
    found = set(operations(kind)) - NO_OPERATIONS
    assert len(found) >= least, sorted(found)
    assert sorted(name for name in found if not sentence(kind, name)) == []


@pytest.mark.parametrize("kind", list(HELP))
def test_sentences_are_one_sentence_of_bounded_length(kind: str) -> None:
    for name, text in HELP[kind].items():
        assert re.fullmatch(r"[a-z0-9_]+", name), name
        assert text.endswith(".") and ". " not in text and len(text) <= 110, name


def test_hyphens_are_underscores_and_what_is_unknown_is_empty() -> None:
    assert sentence("hlo", "all-reduce-start") == HELP["hlo"]["all_reduce_start"]
    assert sentence("hlo", "no-such-operation") == sentence("python", "add") == ""

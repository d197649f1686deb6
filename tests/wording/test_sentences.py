"""Every sentence of the product, one snapshot a wording module: better English changes these files and no test.

`--snapshot-update` writes them; the diff is what a reviewer reads. That a sentence is true is asserted elsewhere, on
enums, figures and lines.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from wordings import pieces, wording_modules

from jaxstage_ext.report.text import typed_forms

HERE = Path(__file__).parent
MODULES = wording_modules()
TYPED = [name for name, module in MODULES.items() if "typed(" in inspect.getsource(importlib.import_module(module))]
"""The modules whose sentences say what to type."""
ERRORS = sorted(file.stem for file in (HERE / "errors").glob("*.py"))


_HELP = {"line_help"}
"""Docstrings of magics."""


class TextFile(SingleFileSnapshotExtension):
    """A file of text for each case: `__snapshots__/test_sentences/test_sentences[cause_wording].txt`."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def sentences(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


def rendered(said: dict[str, object]) -> str:
    """Each fact, and below it what is said of it."""
    return "\n".join(f"{fact}\n{_indented(text)}" for fact, text in said.items()) + "\n"


def _indented(said: object) -> str:
    texts = [said] if isinstance(said, str) or said is None else list(said)  # type: ignore[call-overload]
    lines = [line for text in texts for line in str(text or "(nothing)").split("\n")] or ["(nothing)"]
    return "\n".join(f"    {line}".rstrip() for line in lines)


def test_every_wording_module_is_here() -> None:
    written = {file.stem for file in (HERE / "said").glob("*.py")}
    assert written == set(MODULES)
    snapshots = {file.stem for file in (HERE / "__snapshots__" / "test_sentences").iterdir()}
    expected = {*(f"test_sentences[{name}]" for name in MODULES), *(f"test_errors[{name}]" for name in ERRORS)}
    assert snapshots <= expected | {f"test_outside_ipython[{name}]" for name in TYPED}


@pytest.mark.parametrize("module", MODULES)
def test_sentences(module: str, sentences: SnapshotAssertion) -> None:
    assert rendered(importlib.import_module(f"said.{module}").SAID) == sentences


@pytest.mark.parametrize("module", TYPED)
def test_outside_ipython(module: str, sentences: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what differs, since nobody can type a magic there."""
    assert rendered(_differing(module, monkeypatch)) == sentences


def _differing(module: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    said = importlib.import_module(f"said.{module}")
    inside = dict(said.SAID)
    with monkeypatch.context() as outside:
        outside.setattr(typed_forms, "in_ipython", lambda: False)
        elsewhere = dict(importlib.reload(said).SAID)
    importlib.reload(said)
    return {fact: text for fact, text in elsewhere.items() if text != inside[fact]}


@pytest.mark.parametrize("module", MODULES)
def test_no_sentence_is_missing(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _words(rendered(importlib.import_module(f"said.{module}").SAID))
    if module in TYPED:
        text += _words(rendered(_differing(module, monkeypatch)))
    written = (part for piece in pieces(MODULES[module]) for part in piece.split("{}"))
    assert not [part for part in written if _words(part) not in text]


def _words(text: str) -> str:
    """The words, however they are wrapped or capitalised."""
    return re.sub(r"\s+", " ", text).lower().strip()


@pytest.mark.parametrize("module", sorted(set(MODULES) - _HELP))
def test_no_sentence_has_a_back_quote(module: str) -> None:
    """It would be shown as it is, in a terminal, in HTML and in the panel."""
    assert "`" not in rendered(importlib.import_module(f"said.{module}").SAID)


@pytest.mark.parametrize("place", ERRORS)
def test_errors(place: str, sentences: SnapshotAssertion) -> None:
    """What the tests of these places ask, of which they assert the facts in the answers."""
    assert rendered(importlib.import_module(f"errors.{place}").SAID) == sentences

"""Text and frames come from the same moment, the trace, whatever becomes of the files afterwards."""

from __future__ import annotations

import importlib
import itertools
import linecache
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.ir.sources import source_texts, source_wording
from jaxstage_ext.ir.sources.source_texts import SourceState
from jaxstage_ext.panel.requests import document_requests

X = np.ones(4, np.float32)
SHORT = "import jax.numpy as jnp\n\n\ndef f(x):\n    return jnp.sin(x)\n"
LONG = "import jax.numpy as jnp\n\n# a longer text\n\n\ndef f(x):\n    y = jnp.cos(x)  # é\n    return y * 2\n"
OTHER_CONSTANT = SHORT.replace("import jax.numpy as jnp\n\n", "import jax.numpy as jnp\nK = 2\n")


def said_of(state: SourceState) -> str:
    """What the title of a file says of its state."""
    return source_wording.title("", state).partition(" (")[2].removesuffix(")")


CHANGED, DELETED = said_of(SourceState.CHANGED), said_of(SourceState.DELETED)
MOVED, OTHER_CODE = said_of(SourceState.MOVED), said_of(SourceState.OTHER_CODE)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Module]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Module(tmp_path / f"model_{next(NUMBERS)}.py")
    yield made
    sys.modules.pop(made.path.stem, None)


NUMBERS = itertools.count()


class Module:
    """A module of the user's that is edited and reloaded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loaded: ModuleType | None = None

    def write(self, text: str, encoding: str = "utf-8") -> None:
        """Edit the file; `linecache` has what it read before, as long as nobody asks it to look."""
        self.path.write_bytes(text.encode(encoding))

    def load(self) -> ModuleType:
        importlib.invalidate_caches()
        self.loaded = importlib.reload(self.loaded) if self.loaded else importlib.import_module(self.path.stem)
        return self.loaded

    def inspected(self) -> Inspection:
        assert self.loaded
        return inspect(self.loaded.f, X, stage="lower")


def shown(inspection: Inspection) -> tuple[str, str]:
    """(what the title says, the text) of the source pane."""
    title, _, text = inspection.documents["python"].text.partition("\n")
    return title.partition(" (")[2].removesuffix(")"), text


def of_f(text: str) -> str:
    """What is shown of a text: the function f, and how much is not."""
    lines = text.rstrip("\n").split("\n")
    start = lines.index("def f(x):")
    end = next((row for row in range(start + 1, len(lines)) if not lines[row].startswith(" ")), len(lines))
    return "\n".join([*not_shown(start), *lines[start:end], *not_shown(len(lines) - end)])


def not_shown(lines: int) -> list[str]:
    return [f"… {lines} line{'s' if lines > 1 else ''} not shown"] if lines else []


def assert_frames_are_in(inspection: Inspection, text: str) -> None:
    """Every operation's line has the expression that made it, and the source pane has the line."""
    for kind in ("jaxpr", "stablehlo"):
        document = inspection.documents[kind]
        for number in range(1, len(document) + 1):
            if (span := document.source_of(number)) is None or not span.end_column:
                continue
            line = text.split("\n")[span.line - 1]
            assert line[span.column - 1 : span.end_column - 1] in ("jnp.sin(x)", "jnp.cos(x)", "y * 2")
            assert inspection.documents["python"].lines_from(span.file, span.line)


def test_a_reloaded_module_is_shown_as_it_was_reloaded(module: Module) -> None:
    for text in (SHORT, LONG, SHORT, OTHER_CONSTANT):
        module.write(text)
        module.load()
        inspection = module.inspected()
        assert shown(inspection) == ("", of_f(text))
        assert_frames_are_in(inspection, text)
        assert inspection.summary()["notes"] == []


@pytest.mark.parametrize("later", [LONG, OTHER_CONSTANT, "", "def f(x:\n"])
def test_a_file_that_is_edited_after_the_trace_is_shown_as_traced(module: Module, later: str) -> None:
    module.write(SHORT)
    module.load()
    inspection = module.inspected()
    module.write(later)
    linecache.checkcache()
    assert shown(inspection) == (CHANGED, of_f(SHORT))
    assert_frames_are_in(inspection, SHORT)
    [note] = inspection.summary()["notes"]
    assert note == source_wording.note(module.path.name, SourceState.CHANGED)


def test_a_file_that_is_edited_after_it_was_shown_is_told_by_the_note(module: Module) -> None:
    module.write(SHORT)
    module.load()
    inspection = module.inspected()
    assert shown(inspection) == ("", of_f(SHORT)) and inspection.summary()["notes"] == []
    module.write(LONG)
    assert shown(inspection) == ("", of_f(SHORT))
    assert inspection.summary()["notes"][0] == source_wording.note(module.path.name, SourceState.CHANGED)
    assert inspection.summary()["notes"][0] in " ".join(repr(inspection).replace("│", "").split())
    module.write(SHORT)
    assert inspection.summary()["notes"] == []


def test_a_file_that_is_saved_unchanged_is_not_a_change(module: Module) -> None:
    module.write(SHORT)
    module.load()
    inspection = module.inspected()
    module.write(SHORT)
    os.utime(module.path, (1, 1))
    assert shown(inspection) == ("", of_f(SHORT))
    assert inspection.summary()["notes"] == []


def test_code_older_than_its_file_has_the_text_that_it_was_loaded_from(module: Module) -> None:
    module.write(SHORT)
    module.load()
    module.inspected()
    module.write(LONG)
    linecache.checkcache()
    inspection = module.inspected()
    assert shown(inspection) == (CHANGED, of_f(SHORT))
    assert_frames_are_in(inspection, SHORT)


def test_a_text_that_a_traceback_read_before_the_edit_serves(module: Module) -> None:
    module.write(SHORT)
    module.load()
    linecache.getlines(str(module.path))
    module.write(LONG)
    assert shown(module.inspected()) == (CHANGED, of_f(SHORT))


def test_code_whose_text_nobody_kept_says_that_lines_may_have_moved(module: Module) -> None:
    module.write(LONG)
    module.load()
    module.write(SHORT)
    linecache.checkcache()
    inspection = module.inspected()
    assert shown(inspection) == (OTHER_CODE, of_f(SHORT))
    last = len(SHORT.rstrip("\n").split("\n"))
    assert max(inspection.documents["python"].number.tolist()) == last
    assert inspection.documents["python"].lines_from(str(module.path), last + 2) == []
    [note] = inspection.summary()["notes"]
    assert note == source_wording.note(module.path.name, SourceState.OTHER_CODE)


def test_links_follow_code_that_was_only_moved(module: Module) -> None:
    module.write(SHORT)
    module.load()
    text = SHORT.replace("\n\n\n", "\n\n# one more\n# and one more\n\n")
    module.write(text)
    inspection = module.inspected()
    assert shown(inspection) == (MOVED, of_f(text))
    assert_frames_are_in(inspection, text)
    assert_frames_are_in(module.inspected(), text)


def test_an_edit_that_moves_nothing_is_seen(module: Module) -> None:
    module.write(SHORT)
    module.load()
    module.write(SHORT.replace("sin", "cos"))
    assert shown(module.inspected())[0] == OTHER_CODE


def test_no_line_beyond_the_end_of_a_long_file_is_asked_for(module: Module) -> None:
    filler = "".join(f"def g{i}(x):\n    return x\n\n\n" for i in range(60))
    module.write(filler + SHORT)
    module.load()
    for later in (filler, f"{filler}def broken(:\n"):
        module.write(later)
        linecache.checkcache()
        assert shown(module.inspected())[0] == OTHER_CODE


def test_a_deleted_file_is_shown_as_traced(module: Module) -> None:
    module.write(SHORT)
    module.load()
    inspection = module.inspected()
    module.path.unlink()
    linecache.checkcache()
    assert shown(inspection) == (DELETED, of_f(SHORT))
    assert inspection.summary()["notes"][0] == source_wording.note(module.path.name, SourceState.DELETED)
    assert shown(module.inspected()) == (DELETED, of_f(SHORT))


def test_a_file_deleted_before_anyone_read_it_is_not_available(module: Module) -> None:
    module.write(SHORT)
    module.load()
    module.path.unlink()
    linecache.checkcache()
    assert shown(module.inspected()) == (said_of(SourceState.UNAVAILABLE), "")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "cp1252"])
def test_other_encodings(module: Module, encoding: str) -> None:
    text = f"# -*- coding: {encoding} -*-\n{LONG}"
    for once_more in ("", "# more\n"):
        module.write(text + once_more, encoding)
        module.load()
        inspection = module.inspected()
        assert shown(inspection) == ("", of_f(text + once_more))
        assert_frames_are_in(inspection, text)


def test_a_file_that_became_a_pipe_does_not_hang(module: Module) -> None:
    module.write(SHORT)
    module.load()
    module.path.unlink()
    os.mkfifo(module.path)
    linecache.cache.pop(str(module.path), None)
    assert shown(module.inspected())[1] in ("", of_f(SHORT))


def test_code_that_an_import_hook_rewrote_is_still_its_file(module: Module) -> None:
    """pytest rewrites assertions, so that the code is not what Python alone makes of the text."""
    from _pytest.assertion.rewrite import rewrite_asserts

    text = SHORT.replace("    return", "    assert x.ndim == 1, f'{x.ndim}'\n    return")
    module.write(text)
    module.load()
    import ast

    tree = ast.parse(text)
    rewrite_asserts(tree, text.encode(), str(module.path))
    assert module.loaded
    exec(compile(tree, str(module.path), "exec", dont_inherit=True), module.loaded.__dict__)
    assert shown(module.inspected())[0] == ""


def test_a_library_replaced_in_a_running_kernel_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages" / f"layers_{next(NUMBERS)}"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(SHORT)
    monkeypatch.setattr(sys, "path", [str(folder.parent), *sys.path])
    library = importlib.import_module(folder.name)

    def use(x):
        return library.f(x)

    inspection = inspect(use, X, stage="lower")
    shutil.copyfile(folder / "__init__.py", folder / "old.py")
    (folder / "__init__.py").write_text(LONG)
    linecache.checkcache()
    source = document_requests.library_source.library_source(inspection.program, folder.name)
    assert source is not None and OTHER_CODE in source.lines[0]
    (folder / "__init__.py").write_text(SHORT)
    again = inspect(use, X, stage="lower")
    source = document_requests.library_source.library_source(again.program, folder.name)
    assert source is not None and source.lines[0] == f"# {folder.name}/__init__.py"


def test_libraries_are_not_read_before_someone_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = source_texts._read
    monkeypatch.setattr(source_texts, "_kept", {})
    monkeypatch.setattr(source_texts, "_read", lambda name, stamp: read.append(name) or original(name, stamp))
    import flax.linen as nn
    import jax

    net = nn.Dense(3)
    params = net.init(jax.random.key(0), X)
    inspection = inspect(lambda p, x: net.apply(p, x), params, X, stage="lower")
    repr(inspection)
    assert set(read) == {__file__}


def test_the_state_of_a_file_is_plain(module: Module) -> None:
    module.write(SHORT)
    module.load()
    inspection = module.inspected()
    texts = inspection.program.frame_table.sources
    assert texts.text(str(module.path)).state is SourceState.CURRENT
    module.write(LONG)
    assert texts.state(str(module.path)) is SourceState.CHANGED

"""After a hit in JAX's persistent compilation cache, lines are those of this program, not of the one compiled first."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.compilation_cache import compilation_cache

from jaxstage_ext import inspect, profile
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.core.stage.staged import Cache
from jaxstage_ext.report.document import INFERRED, OP
from jaxstage_ext.store import cache
from tests.truth.source_asks import code

X = jnp.ones((16, 16))

PROGRAM = """import jax
import jax.numpy as jnp


def helper(x, w):
    h = jnp.sin(x @ w)
    h = jnp.sin(h) * h + jnp.sin(
        h * 2)
    return jax.nn.relu(h)


def step(x, w):
    y = helper(x, w)
    y = helper(y, w)

    def body(carry, _):
        return jnp.tanh(carry @ w), jnp.sum(carry)

    last, sums = jax.lax.scan(body, y, None, length=5)
    return jnp.sum(last) + jnp.sum(sums) + jnp.mean(jnp.exp(y) * y)
"""


def moved_down(text: str) -> str:
    return "\n" * 7 + text


def spread_out(text: str) -> str:
    """With a comment before every second statement: no one distance has all lines moved by."""
    lines = text.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines]
    return "\n".join(
        f"{' ' * indent}# {number}\n{line}" if number % 2 and line and not line.endswith("h * 2)") else line
        for number, (line, indent) in enumerate(zip(lines, indents, strict=True))
    )


def other_order(text: str) -> str:
    """The helper after the function that calls it."""
    imports, helper, step = text.split("\n\n\n")
    return "\n\n\n".join([imports, step.rstrip(), helper]) + "\n"


def the_same(text: str) -> str:
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A persistent cache that takes every program; our own cache, which would find the executable first, is off."""
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    was_enabled = cache.enabled()
    cache.enable(False)
    jax.config.update(names[0], str(tmp_path / "cache"))
    jax.config.update(names[1], 0.0)
    compilation_cache.reset_cache()
    yield tmp_path
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    cache.enable(was_enabled)


@pytest.fixture
def log() -> Iterator[None]:
    was_on = listening.is_on()
    listening.start()
    LOG.clear()
    yield
    if not was_on:
        listening.stop()


def written(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    linecache.checkcache(str(path))
    module = ModuleType(path.stem)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def expressions(inspection: Any, path: Path) -> list[tuple[str, str]]:
    """(instruction, the expression that it comes from) of each direct link; all are in the file."""
    document, result = inspection.documents["hlo"], []
    for row, line in enumerate(document.lines):
        span = document.source_of(row + 1)
        if document.flags[row] & OP and not document.flags[row] & INFERRED and span is not None:
            assert span.file == str(path), line
            result.append((line.split(" = ")[0].split()[-1], code(span)))
    return result


@pytest.mark.parametrize("edit", [moved_down, spread_out, other_order, the_same])
def test_a_hit_names_the_lines_of_this_program(folder: Path, edit: Callable[[str], str]) -> None:
    first, second = folder / "first.py", folder / "second.py"
    fresh = inspect(written(first, PROGRAM).step, X, X)
    expected = expressions(fresh, first)
    assert len(expected) > 30
    jax.clear_caches()
    hit = inspect(written(second, edit(PROGRAM)).step, X, X)
    assert hit.program.staged.stage(COMPILE).hit.cache is Cache.PERSISTENT
    assert expressions(hit, second) == expected
    assert hit.documents["hlo"].coverage == fresh.documents["hlo"].coverage


def test_the_same_file_edited(folder: Path) -> None:
    path = folder / "model.py"
    expected = expressions(inspect(written(path, PROGRAM).step, X, X), path)
    jax.clear_caches()
    hit = inspect(written(path, moved_down(PROGRAM)).step, X, X)
    assert hit.program.staged.stage(COMPILE).hit.cache is Cache.PERSISTENT
    assert expressions(hit, path) == expected


def test_cost_by_line_names_this_program(folder: Path) -> None:
    first, second = folder / "first.py", folder / "second.py"
    fresh = inspect(written(first, PROGRAM).step, X, X).cost.by("line")
    jax.clear_caches()
    hit = inspect(written(second, moved_down(PROGRAM)).step, X, X).cost.by("line")
    lines = [[str(line) for line in table.columns["line"].values] for table in (fresh, hit)]
    moved = [f"second.py:{int(line[9:]) + 7}" if line.startswith("first.py:") else line for line in lines[0]]
    assert len(moved) > 5
    assert sorted(lines[1]) == sorted(moved)


SIBLINGS = """import jax.numpy as jnp

first = lambda h: jnp.sin(h) * 2
second = lambda h: jnp.cos(h) * 3


def helper(h):
    return jnp.exp(h) + 1


def step(x, w):
    y = first(x @ w)
    y = helper(second(y))
    y = helper(y)
    return jnp.tanh(y)
"""
_PAIR = SIBLINGS[SIBLINGS.index("first =") : SIBLINGS.index("\n\n\ndef helper")]


def swapped(text: str) -> str:
    """Two lambdas that change places: each line exists in both programs, and is another one's."""
    return text.replace(_PAIR, "\n".join(reversed(_PAIR.split("\n"))))


def renamed(text: str) -> str:
    """Other names of functions, which are not in the key of the cache."""
    return text.replace("helper", "offset").replace("first", "leading").replace("second", "following")


def with_comments(text: str) -> str:
    text = text.replace("    y = helper(y)", "    # once more\n    y = helper(y)")
    return text.replace("def helper", "# of h\ndef helper")


@pytest.mark.parametrize("edit", [swapped, renamed, with_comments])
def test_a_hit_names_the_line_with_the_same_code(folder: Path, log: None, edit: Callable[[str], str]) -> None:
    first, second = folder / "first.py", folder / "second.py"
    inspect(written(first, SIBLINGS).step, X, X)
    jax.clear_caches()
    hit = inspect(written(second, edit(SIBLINGS)).step, X, X)
    assert hit.program.staged.stage(COMPILE).hit.cache is Cache.PERSISTENT
    jax.clear_caches()
    jax.config.update("jax_compilation_cache_dir", str(folder / "empty"))
    compilation_cache.reset_cache()
    fresh = inspect(written(second, edit(SIBLINGS)).step, X, X)
    assert fresh.program.staged.stage(COMPILE).hit is None
    assert expressions(hit, second) == expressions(fresh, second)
    [figure] = [fact for fact in hit.summary()["facts"] if fact["label"] == "persistent cache"]
    assert (figure["text"], hit.summary()["notes"]) == ("hit", [])
    assert "names the lines and name scopes of the program that was compiled first" in figure["note"]
    assert "compiled first" not in str(fresh.summary())


def test_lines_that_cannot_be_matched_are_unknown_and_counted(folder: Path) -> None:
    first, second = folder / "first.py", folder / "second.py"
    unrolled = SIBLINGS.replace("    y = helper(second(y))\n    y = helper(y)\n", "    y = helper(helper(y))\n")
    looped = unrolled.replace("    y = helper(helper(y))\n", "    for _ in range(2):\n        y = helper(y)\n")
    for text in (unrolled, looped):
        assert "helper(" in text
    inspect(written(first, looped).step, X, X)
    jax.clear_caches()
    hit = inspect(written(second, unrolled).step, X, X)
    assert hit.program.staged.stage(COMPILE).hit.cache is Cache.PERSISTENT
    assert all(code_of in unrolled for _, code_of in expressions(hit, second))
    document = hit.documents["hlo"]
    helped = [document.source_of(row + 1) for row, line in enumerate(document.lines) if " exponential(" in line]
    assert {span.line for span in helped if span is not None} <= {8}
    assert any(
        "could not be matched" in note and "jaxstage_ext.inspect(f, ..., isolate=True)" in note
        for note in hit.summary()["notes"]
    )


def own_name(text: str) -> str:
    """The program under a name that no other test of this process has compiled: profiles know programs by it."""
    return text.replace("def step(", "def step_of_the_cache(") + "\n\nstep = step_of_the_cache\n"


def profiled_files(folder: Path, text: str, file: str) -> tuple[set[str], list[str]]:
    """(the files that a profile of Python code names, what is said of it)."""
    step = jax.jit(written(folder / file, own_name(text)).step)

    def run() -> Any:
        return [step(X, X) for _ in range(50)]

    for _ in range(5):  # on a busy machine XLA's profiler may miss small programs
        _, profiled = profile(run, warm=True)
        if len(profiled.program.timeline.work):
            break
    places, document = profiled.program.timeline.places, profiled.documents.get("hlo")
    spans = [places.frames.span(int(places.frames.user[frame])) for frame in places.frame if frame >= 0]
    if document is not None:
        spans += [span for row in range(len(document)) if (span := document.source_of(row + 1)) is not None]
    return {Path(span.file).name for span in spans}, profiled.summary()["notes"]


def test_a_profile_of_python_code_names_no_line_of_the_program_compiled_first(folder: Path, log: None) -> None:
    inspect(written(folder / "first.py", own_name(PROGRAM)).step, X, X)
    jax.clear_caches()
    LOG.clear()
    files, notes = profiled_files(folder, moved_down(PROGRAM), "second.py")
    assert "second.py" in files
    assert "first.py" not in files
    assert not any("could not be matched" in note for note in notes)


def test_a_profile_of_programs_that_the_cache_takes_as_one_shows_no_line_but_says_so(folder: Path, log: None) -> None:
    inspect(written(folder / "first.py", own_name(PROGRAM)).step, X, X)
    jax.clear_caches()
    files, notes = profiled_files(folder, moved_down(PROGRAM), "second.py")
    assert not {"first.py", "second.py"} & files
    assert any("could not be matched" in note for note in notes)


SCOPED = """import jax
import jax.numpy as jnp


@jax.jit
def inner(h):
    with jax.named_scope("low"):
        return jnp.cos(h) * h


def step(x, w):
    with jax.named_scope("@1"):
        y = jnp.tanh(x @ w)
    with jax.named_scope("@2"):
        y = jnp.sin(inner(y))
    return inner(y)
"""


@pytest.mark.parametrize("names", [("renamed", "other"), ("second", "first")])
def test_a_hit_has_the_name_scopes_of_this_program(folder: Path, names: tuple[str, str]) -> None:
    path, text = folder / "scopes.py", SCOPED.replace("@1", names[0]).replace("@2", names[1])
    inspect(written(path, SCOPED.replace("@1", "first").replace("@2", "second")).step, X, X)
    jax.clear_caches()
    hit = inspect(written(path, text).step, X, X)
    assert hit.program.staged.stage(COMPILE).hit.cache is Cache.PERSISTENT
    jax.clear_caches()
    jax.config.update("jax_compilation_cache_dir", str(folder / "empty"))
    compilation_cache.reset_cache()
    fresh = inspect(written(path, text).step, X, X)
    rows = range(len(fresh.documents["hlo"]))
    assert fresh.program.staged.stage(COMPILE).hit is None
    assert any(names[0] in fresh.documents["hlo"].scope_name(row) for row in rows)
    of_hit, of_fresh = hit.documents["hlo"], fresh.documents["hlo"]
    assert [of_hit.scope_name(row) for row in rows] == [of_fresh.scope_name(row) for row in rows]
    assert hit.cost.by("scope").to_json() == fresh.cost.by("scope").to_json()

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

from jaxstage_ext import inspect
from jaxstage_ext.core.staged import COMPILE, Cache
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

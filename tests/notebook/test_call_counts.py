"""`%%compiles --count`: calls of jitted functions by code of cells, cache hits included."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from compile_records import compile_record, function_identity
from magic_shell import Shell, fresh_shell

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.notebook.cells.call_count_notes import call_notes
from jaxstage_ext.notebook.cells.call_counts import CallCounts

CAN_COUNT = sys.version_info >= (3, 12)
counts = pytest.mark.skipif(not CAN_COUNT, reason="sys.monitoring is of Python 3.12")
PRINTS = ("debug_print", "debug_callback")
DEFINITIONS = """
@jax.jit
def inner(x):
    return x + 1
@jax.jit
def f(x):
    return inner(x) * 2
class Model:
    @jax.jit
    def step(self, x):
        return x
jax.tree_util.register_static(Model)
@jax.jit
def prints(x):
    jax.debug.print("{}", x)
    return x
def train(times):
    for _ in range(times):
        f(xs)
xs = jnp.ones(3)
"""


@pytest.fixture
def shell() -> Iterator[Shell]:
    LOG.clear()
    with fresh_shell() as made:
        assert made.run(DEFINITIONS).ok
        yield made


SITE = Place("<cell>", 1, "<module>", cell=2)


def said(calls: int, missed: int, name: str = "f") -> str:
    """What is said of a function's calls, of which JAX's caches did not serve some."""

    def function(x: object) -> object:
        return x

    function.__qualname__ = function.__name__ = name
    block = [compile_record(function=function_identity(function), call_site=SITE) for _ in range(missed)]
    jitted = SimpleNamespace(__wrapped__=function, __name__=name)
    [text] = call_notes(CallCounts({1: jitted}, {1: calls}), block, ())
    return text.rstrip(".")


def note(shell: Shell, cell: str, name: str = "f") -> str:
    seen = shell.run(f"%%compiles --count\n{cell}")
    assert seen.ok, seen.error
    text = " ".join(seen.text.split())
    return text[text.index(f"{name}: ") :].split(". ")[0].rstrip(".") if f" {name}: " in text else text


@counts
def test_hits_and_misses_of_calls_in_loops_and_in_functions_of_earlier_cells(shell: Shell) -> None:
    assert note(shell, "for _ in range(10): f(xs)") == said(10, 1)
    assert note(shell, "train(7)\nf(xs)") == said(8, 0)
    assert note(shell, "import asyncio\nawait asyncio.sleep(0)\ntrain(3)") == said(3, 0)


@counts
def test_a_function_called_while_another_is_traced_is_not_counted(shell: Shell) -> None:
    seen = shell.run("%%compiles --count\nf(jnp.ones(17))")
    assert "f: 1 call" in seen.text and "inner: " not in seen.text


@counts
def test_a_method_is_its_function(shell: Shell) -> None:
    assert note(shell, "model = Model()\nfor _ in range(4): model.step(xs)", "step") == said(4, 1, "step")


@counts
def test_a_function_with_effects_never_takes_the_fast_path(shell: Shell) -> None:
    text = note(shell, "for _ in range(3): prints(xs)\njax.effects_barrier()", "prints")
    assert text.startswith(f"{said(3, 1, 'prints')}; ") and " debug_" in text
    again = note(shell, "prints(xs)", "prints")
    assert again.startswith(f"{said(1, 0, 'prints')}; ") and " debug_" in again


@counts
def test_a_cell_without_calls_says_so(shell: Shell) -> None:
    assert call_notes(CallCounts(), (), ())[0] in note(shell, "1 + 1")


@counts
def test_nothing_is_left_of_the_counting_also_after_an_error(shell: Shell) -> None:
    monitoring = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
    before = [monitoring.get_tool(tool) for tool in range(6)]
    shell.run("%%compiles --count\n1/0")
    assert [monitoring.get_tool(tool) for tool in range(6)] == before
    for tool in range(6):
        if before[tool] is None:
            monitoring.use_tool_id(tool, "other")
    seen = shell.run("%%compiles --count\nran = 1")
    for tool in range(6):
        if before[tool] is None:
            monitoring.free_tool_id(tool)
    assert "use every tool id of sys.monitoring" in str(seen.error)
    assert "ran" not in shell


@pytest.mark.skipif(CAN_COUNT, reason="Python 3.11 has no sys.monitoring")
def test_an_older_python_says_so_in_one_line(shell: Shell) -> None:
    seen = shell.run("%%compiles --count\nran = 1")
    assert str(seen.error) == "--count needs Python 3.12 or newer, whose sys.monitoring counts calls; this is 3.11"
    assert "ran" not in shell


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("jax.debug.print('{}', x); return x", ("debug_print", "debug_callback")),
        (
            "return jax.lax.scan(lambda c, _: (prints(c), None), x, None, length=2)[0]",
            ("debug_print", "debug_callback"),
        ),
        ("return io_callback(np.sin, x, x)", ("io_callback",)),
    ],
)
def test_rows_say_which_functions_never_take_the_fast_path(shell: Shell, body: str, names: tuple[str, ...]) -> None:
    shell.run(f"import numpy as np\nfrom jax.experimental import io_callback\n@jax.jit\ndef g(x):\n    {body}")
    shell.run("for _ in range(3): g(xs)\njax.effects_barrier()")
    assert slow_calls(shell, "g") == 1
    text = " ".join(shell.run("%compiles --function g").text.split())
    assert any(f"never on the fast path: {name} has effects" in text for name in names)


@pytest.mark.parametrize("body", ["return x * 2", "return jax.pure_callback(np.sin, x, x)"])
def test_those_that_do_take_it_say_nothing(shell: Shell, body: str) -> None:
    shell.run(f"import numpy as np\n@jax.jit\ndef g(x):\n    {body}\nfor _ in range(3): g(xs)")
    assert slow_calls(shell, "g") == 0
    assert "fast path" not in shell.run("%compiles --function g").text


def slow_calls(shell: Shell, name: str) -> int:
    """How many of one more call's frames are JAX's own for calls that its fast path does not serve."""
    slow = []

    def see(frame: object, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "cache_miss":  # type: ignore[attr-defined]
            slow.append(frame)

    sys.setprofile(see)
    try:
        shell[name](shell["xs"])
    finally:
        sys.setprofile(None)
    return len(slow)

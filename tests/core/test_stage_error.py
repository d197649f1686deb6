"""A stage's error as the panel shows it: cells by their labels, bounded, explained once however often it is asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import stage_error
from jaxstage_ext.ir.sources import source
from jaxstage_ext.program import program
from jaxstage_ext.views.text import panel_text

WORDS = [
    "x" * 1_000_000,
    "ipykernel_" * 100_000,
    "<ipython-input-" * 100_000,
    "/tmp/ipykernel_7/" * 100_000,
    "ipykernel_7 " * 100_000,
]


def failing(word: str) -> Any:
    def f(x: Any) -> Any:
        raise ValueError(word)

    return run(Call(f, (jnp.ones(3),)))


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word[:16].strip())
def test_a_long_word_costs_no_time(word: str) -> None:
    before = time.thread_time()
    source.with_cell_labels(word)
    assert time.thread_time() - before < 2


def test_a_long_message_is_cut_before_it_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(stage_error, "with_cell_labels", lambda text: searched.append(text) or text)
    error = failing("x" * 20_000).error
    assert error.message == "x" * 8000 + "… [12,000 characters left out]"
    assert [len(text) for text in searched] == [8000]


class Compared:
    """A static argument whose comparison raises."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised

    def __hash__(self) -> int:
        return hash(type(self.raised))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Compared) or type(other.raised) is not type(self.raised):
            return False
        raise self.raised


@jax.tree_util.register_pytree_node_class
class Node:
    """A node of a tree with such metadata."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised

    def tree_flatten(self) -> tuple[tuple[float], Compared]:
        return (1.0,), Compared(self.raised)

    @classmethod
    def tree_unflatten(cls, metadata: Compared, values: tuple[float]) -> Node:
        return cls(metadata.raised)


def compares_static_arguments(raised: BaseException) -> None:
    function = jax.jit(lambda x, key: x, static_argnums=1)
    function(1.0, Compared(raised))
    function(1.0, Compared(raised))


def compares_trees(raised: BaseException) -> None:
    assert jax.tree.structure(Node(raised)) == jax.tree.structure(Node(raised))


def walks(raised: BaseException) -> None:
    def visit(operation: Any) -> Any:
        raise raised

    jax.jit(lambda x: x).lower(1.0).compiler_ir("stablehlo").operation.walk(visit)


@pytest.mark.parametrize("inside", [compares_static_arguments, compares_trees, walks])
def test_an_interrupt_of_which_jax_makes_another_error_is_an_interrupt(inside: Callable[[BaseException], None]) -> None:
    """C++ of JAX's makes a ValueError or a RuntimeError of whatever Python raises in it."""
    for raised, is_stopped in ((KeyboardInterrupt(), True), (ZeroDivisionError("x"), False)):
        with pytest.raises((ValueError, RuntimeError)) as caught:
            inside(raised)
        assert not isinstance(caught.value, KeyboardInterrupt)

        def f(x: Any, raised: BaseException = raised) -> Any:
            inside(raised)
            return x

        error = run(Call(f, (jnp.ones(3),))).error
        assert error is not None and error.interrupted is is_stopped
        assert isinstance(error.exception, KeyboardInterrupt) is is_stopped


def test_an_error_is_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[str] = []
    explain = stage_error.explain
    monkeypatch.setattr(program, "explain", lambda stage, error: explained.append(stage) or explain(stage, error))
    inspection = failing("no")
    for _ in range(3):
        panel_text([inspection.program])
        inspection.summary()
        inspection._repr_mimebundle_()
    assert explained == ["trace"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("at /tmp/ipykernel_7/25.py:3:1 (f)", "at In [5]:3:1 (f)"),
        ('File "/tmp/ipykernel_7/25.py", line 3', 'File "In [5]", line 3'),
        ("in /tmp/ipykernel_7/25.py, and (/tmp/ipykernel_7/25.py)", "in In [5], and (In [5])"),
        ("<ipython-input-3-ab>:3 ipykernel_7", "In [3]:3 ipykernel_7"),
        ("/tmp/ipykernel_7/26.py <ipython-input-4-ab>", "/tmp/ipykernel_7/26.py <ipython-input-4-ab>"),
    ],
)
def test_cells_have_their_labels(monkeypatch: pytest.MonkeyPatch, message: str, shown: str) -> None:
    monkeypatch.setattr(source, "cell_numbers", lambda: {"/tmp/ipykernel_7/25.py": 5, "<ipython-input-3-ab>": 3})
    assert source.with_cell_labels(message) == shown

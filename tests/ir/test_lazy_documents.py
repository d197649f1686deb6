"""Documents that cannot be read: those that fail once and for all, those that may be read later, and interrupts."""

from __future__ import annotations

import fakes
import jax
import jax.numpy as jnp
import pytest
from _pytest.outcomes import Failed

from jaxstage_ext import inspect
from jaxstage_ext.ir.lazy_documents import Documents
from jaxstage_ext.report.document import Document, document
from jaxstage_ext.report.unavailable import Unavailable

READ = document("python", ["x = 1"], fakes.frames())


class Reader:
    """A reader that raises on first access."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.asked = error, 0

    def __call__(self) -> Document:
        self.asked += 1
        if self.asked == 1:
            raise self.error
        return READ


def of(reader: Reader) -> Documents:
    return Documents(lambda: {"python": reader})


@pytest.mark.parametrize("error", [ValueError("damaged"), RecursionError("too deep"), SystemExit(3)])
def test_one_that_cannot_be_read_is_not_read_again(error: BaseException) -> None:
    documents = of(reader := Reader(error))
    for _ in range(2):
        with pytest.raises(Unavailable, match=f"the python document cannot be read: {type(error).__name__}: {error}"):
            documents["python"]
    assert documents.get("python") is None
    assert reader.asked == 1


@pytest.mark.parametrize("error", [MemoryError(), OSError("busy"), Unavailable("not yet")])
def test_what_may_succeed_later_is_asked_again(error: Exception) -> None:
    documents = of(Reader(error))
    with pytest.raises(type(error)):
        documents["python"]
    assert documents["python"] is READ


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, Failed])
def test_what_is_no_error_of_the_reader_goes_on_and_is_not_kept(kind: type[BaseException]) -> None:
    documents = of(Reader(kind("stop")))
    with pytest.raises(kind):
        documents.get("python")
    assert documents["python"] is READ


def test_a_value_in_a_jaxpr_that_exits_when_it_is_printed_ends_nothing() -> None:
    class Exits:
        def __call__(self, x: jax.Array) -> jax.Array:
            return x

        def __repr__(self) -> str:
            raise SystemExit(3)

    x = jnp.ones(8)
    inspection = inspect(lambda x: jax.pure_callback(Exits(), x, x), x, stage="lower")
    assert "jaxpr unavailable: the jaxpr document cannot be read: SystemExit: 3" in repr(inspection)
    assert inspection.program.documents["stablehlo"]

"""The signature of a callable whose own code fails, exits, or is interrupted."""

from __future__ import annotations

import inspect

import pytest
from _pytest.outcomes import Failed

from jaxstage_ext.core.inputs.signatures import signature_of


class Signed:
    """A callable whose signature is computed by code of its own."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self) -> None: ...

    @property
    def __signature__(self) -> inspect.Signature:
        raise self.error


@pytest.mark.parametrize("error", [ValueError("v"), SystemExit(3), RecursionError()])
def test_code_of_a_callable_that_fails_or_exits_gives_none(error: BaseException) -> None:
    with pytest.raises(ValueError, match="Python gives no signature"):
        signature_of(Signed(error))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, Failed, NameError])
def test_what_is_no_error_of_the_callable_goes_on(kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        signature_of(Signed(kind("stop")))


def test_a_name_that_an_annotation_lacks_is_said() -> None:
    def f(x: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError, match="Missing"):
        signature_of(f, eval_str=True)
    assert list(signature_of(f).parameters) == ["x"]

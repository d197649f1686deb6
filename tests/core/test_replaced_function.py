"""JAX's own function is back after the block, at whatever line an interrupt comes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
from interrupts import interrupt
from jax._src import compiler

from jaxstage_ext.core.jax_private import replaced_function
from jaxstage_ext.core.jax_private.replaced_function import ReplacedFunction
from jaxstage_ext.report import uninterrupted

NAME = "compile_or_get_cached"
OURS = (replaced_function.__file__, uninterrupted.__file__)


@pytest.fixture
def interrupts_raise() -> Iterator[None]:
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def interrupted_at(line: int, times: int, function: ReplacedFunction) -> bool:
    """Enter and leave a block, with interrupts from the so-manieth line that runs on; whether there was such a line."""
    ran = 0

    def traced(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal ran
        if event == "line" and frame.f_code.co_filename in OURS:
            ran += 1
            if line <= ran < line + times:
                interrupt()
        return traced

    former = sys.gettrace()
    sys.settrace(traced)
    try:
        with function.replaced():
            pass
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(former)
    return ran >= line


@pytest.mark.usefixtures("interrupts_raise")
def test_an_interrupt_at_any_line_leaves_jax_its_function() -> None:
    original = getattr(compiler, NAME)
    function = ReplacedFunction(NAME, lambda through: lambda *given, **named: through(*given, **named))
    line = 1
    while interrupted_at(line, 1, function):
        assert getattr(compiler, NAME) is original, f"interrupted at line {line}"
        line += 1
    assert line > 20


def test_it_is_replaced_from_the_first_block_to_the_last() -> None:
    original = getattr(compiler, NAME)
    function = ReplacedFunction(NAME, lambda through: lambda *given, **named: through(*given, **named))
    first, second = function.replaced(), function.replaced()
    first.__enter__()
    replaced = getattr(compiler, NAME)
    second.__enter__()
    first.__exit__(None, None, None)
    assert getattr(compiler, NAME) is replaced is not original
    second.__exit__(None, None, None)
    assert getattr(compiler, NAME) is original

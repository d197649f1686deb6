"""The parameters that a call of a jitted function fills, those of a partial and `self` left out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from jaxstage_ext.compilation.records.compile_record import FunctionIdentity, KeptValue


@dataclass(frozen=True, slots=True)
class CallParameters:
    """Parameters by kind."""

    positional: tuple[str, ...]
    """Those that a call can fill by position, in order; the first `positional_only` ones only so."""
    positional_only: int
    keyword_only: tuple[str, ...]
    """The others."""
    rest: str
    """The name of `*args`; "" without one."""
    defaults: Mapping[str, KeptValue]
    """By name, those of a partial's keywords among them."""

    @property
    def order(self) -> tuple[str, ...]:
        """All by name, in the order of the signature."""
        return self.positional + self.keyword_only

    def may_be_keyword(self, name: str) -> bool:
        """Whether a call can name it."""
        return name in self.order[self.positional_only :]


NONE = CallParameters((), 0, (), "", {})


def call_parameters(function: FunctionIdentity | None) -> CallParameters:
    """The parameters of a call; `NONE` of a function that is not Python's."""
    if function is None or function.code is None:
        return NONE
    code = function.code
    filled = sum(value.name.isdigit() or value.name == "self" for value in function.bound)
    names, count, keywords = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    by_keyword = {value.name: value for value in function.bound if value.name.isidentifier() and value.name != "self"}
    return CallParameters(
        names[filled:count],
        max(0, code.co_posonlyargcount - filled),
        names[count : count + keywords],
        names[count + keywords] if code.co_flags & inspect.CO_VARARGS else "",
        {value.name: value for value in function.defaults} | by_keyword,
    )

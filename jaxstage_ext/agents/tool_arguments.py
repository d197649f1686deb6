"""What a client gives a tool: arguments by name, of the types that the tool's function has, and no others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from jaxstage_ext.agents import agent_wording as wording

_TYPES: Mapping[str, type] = {"str": str, "int": int, "bool": bool}


def check_arguments(tool: str, function: Callable[..., str], given: Mapping[str, Any]) -> None:
    """Raise ValueError, in one line, for an argument that is unknown, missing, or of another type.

    The first parameter of a tool is the kernel's names, which no client gives.
    """
    _, *parameters = inspect.signature(function).parameters.values()
    names = [one.name for one in parameters]
    if unknown := [name for name in given if name not in names]:
        raise ValueError(wording.no_argument(tool, unknown[0], names))
    for one in parameters:
        if one.name not in given and one.default is one.empty:
            raise ValueError(wording.missing_argument(tool, one.name))
        kind = _TYPES.get(str(one.annotation))
        if one.name in given and kind is not None and type(given[one.name]) is not kind:
            raise ValueError(wording.bad_argument(one.name, kind.__name__, given[one.name]))

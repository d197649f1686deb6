"""The layouts that a lowered program was asked for."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jax._src.interpreters import pxla as _pxla
from jax.experimental.layout import Layout as DeviceLayout

_changing = threading.Lock()


@contextmanager
def explicit_layouts_kept() -> Iterator[None]:
    """Lower with each layout that the user gives to `jax.jit`, also where it is the default of this machine.

    JAX drops those, for which the target's default may be another. Layouts of arrays have tiles, the user's have none.
    """
    thread = threading.get_ident()
    with _changing:
        whole: Any = _pxla.is_default_layout

        def is_default_layout(layout: Any, *rest: Any) -> Any:
            if threading.get_ident() == thread and getattr(layout, "tiling", ()) is None:
                return False
            return whole(layout, *rest)

        _pxla.is_default_layout = is_default_layout
        try:
            yield
        finally:
            _pxla.is_default_layout = whole


def _asked_for(traced: Any, side: str, count: int) -> list[Any]:
    """The layouts that `jax.jit` was given, flat; none where that is unknown."""
    given = getattr(traced, "_params", {}).get(side, ())
    return list(given) if len(given) == count else [None] * count


def given_layouts(traced: Any, lowered: Any) -> tuple[list[str], list[str]]:
    """Who chooses the layout of each argument that XLA is given, and of each result: you, XLA, or nobody."""
    args = lowered._lowering.compile_args
    kept, both = args["kept_var_idx"], []
    for side in ("in_layouts", "out_layouts"):
        asked = _asked_for(traced, side, len(args[side]))
        both.append([_who(each or mine) for each, mine in zip(args[side], asked, strict=True)])
    return [who for at, who in enumerate(both[0]) if at in kept], both[1]


def _who(layout: Any) -> str:
    if layout is None:
        return "default"
    return "XLA, by Layout.AUTO" if "Auto" in type(layout).__name__ else "you"


def with_free_layouts(traced: Any) -> Any:
    """The trace of a call whose arguments and results lie as XLA chooses; captured arrays lie as they do."""
    made, given = copy.copy(traced), list(traced._params["in_layouts"])
    free: Any = DeviceLayout.AUTO
    count = len(traced.jaxpr.jaxpr.debug_info.arg_names or given)
    given[max(0, len(given) - count) :] = [free] * min(count, len(given))
    results = (free,) * len(traced._params["out_layouts"])
    made._params = traced._params | {"in_layouts": tuple(given), "out_layouts": results}
    made._lojax = None
    return made

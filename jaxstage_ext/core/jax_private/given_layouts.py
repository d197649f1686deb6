"""The layouts that a lowered program was asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jax._src.interpreters import pxla as _pxla

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

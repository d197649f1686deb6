"""The layouts that a lowered program was asked for."""

from __future__ import annotations

from typing import Any


def given_layouts(lowered: Any) -> tuple[list[str], list[str]]:
    """Who chooses the layout of each argument that XLA is given, and of each result: you, XLA, or nobody."""
    args = lowered._lowering.compile_args
    kept = args["kept_var_idx"]
    inputs = [_who(each) for at, each in enumerate(args["in_layouts"]) if at in kept] or []
    return inputs, [_who(each) for each in args["out_layouts"]]


def _who(layout: Any) -> str:
    if layout is None:
        return "default"
    return "XLA, by Layout.AUTO" if "Auto" in type(layout).__name__ else "you"

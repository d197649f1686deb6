"""Where an equation comes from: its stack of frames and its name scopes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jax
from jax._src import source_info_util as _source_info


def raw_frames(eqn: Any) -> Iterator[tuple[Any, int]]:
    """(code object, last instruction) of an equation's stack, innermost first, without JAX's own."""
    traceback = eqn.source_info.traceback
    if traceback is None:
        return
    codes, lasts = traceback.raw_frames()
    for code, last in zip(codes, lasts, strict=True):
        if _source_info.is_user_filename(code.co_filename):
            yield code, last


def own_frames(eqn: Any) -> Iterator[str]:
    """The names of JAX's own functions that made an equation, innermost first, and of the first one that is not."""
    traceback = eqn.source_info.traceback
    for code in traceback.raw_frames()[0] if traceback is not None else ():
        yield code.co_name
        if _source_info.is_user_filename(code.co_filename):
            return


def frames_inside(eqn: Any, function: str) -> int | None:
    """How many frames that are not JAX's own lie inside of JAX's function of this name; None of others' equations."""
    traceback, count = eqn.source_info.traceback, 0
    for code in traceback.raw_frames()[0] if traceback is not None else ():
        if _source_info.is_user_filename(code.co_filename):
            count += 1
        elif code.co_name == function:
            return count
    return None


def stack_identity(eqn: Any) -> int:
    """The same for equations of one jaxpr that share a stack, as a forward equation and its transpose do."""
    return id(eqn.source_info.traceback)


def frame_position(code: Any, last: int) -> tuple[int, int, int, int]:
    """(line, column, end line, end column) of an instruction; columns count from 0."""
    frame = _source_info.raw_frame_to_frame(code, last)
    return frame.start_line, frame.start_column, frame.end_line, frame.end_column


def name_stack(eqn: Any) -> str:
    """The name scopes around an equation: "transpose(jvp(layer3))"."""
    return str(eqn.source_info.name_stack)


def canonical_file(name: str) -> str:
    """A source file's name as JAX writes it into StableHLO locations."""
    pattern = jax.config.jax_hlo_source_file_canonicalization_regex
    return re.sub(pattern, "", name) if pattern else name


def frame_limit() -> int:
    """How many frames of a stack JAX writes into StableHLO locations."""
    limit = int(jax.config.jax_traceback_in_locations_limit)
    return limit if limit >= 0 else 1000

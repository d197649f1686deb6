"""The lines of a module that ran in this kernel, where JAX's persistent cache may have given its executable."""

from __future__ import annotations

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, CompileRecord
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces, cached_places, unknown_places
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.report.frames import Frames

_MOST_READ = 6
"""Compiles of a module's name beyond which it is not asked which of them ran."""


def places_of_run(module: Module, table: FrameTable) -> CachedPlaces | None:
    """Where the instructions of a module that ran here stand; None where it names its own places, as far as is known.

    The compile log has the StableHLO of each program of that name. Where they are at different places, it is not known
    which of them ran, and all places are unknown.
    """
    named = [record for record in LOG if _is_of(record, module.header.name)]
    if not any(_is_hit(record) for record in named):
        return None
    kept = [record for record in named if record.artefacts.module is not None]
    if len(kept) < len(named) or len(kept) > _MOST_READ:
        return unknown_places(module)
    found = [_placed(record, module, table) for record in kept]
    lines = {_lines(places, module, table.freeze()) for places in found}
    return found[-1] if len(lines) == 1 else unknown_places(module)


def has_hit(name: str) -> bool:
    """Whether JAX's persistent cache gave the executable of a program of this name."""
    return any(_is_hit(record) for record in LOG if _is_of(record, name))


def _is_of(record: CompileRecord, name: str) -> bool:
    return record.persistent is not None and record.persistent.module_name == name


def _is_hit(record: CompileRecord) -> bool:
    return record.persistent is not None and record.persistent.outcome is CacheOutcome.HIT


def _placed(record: CompileRecord, module: Module, table: FrameTable) -> CachedPlaces | None:
    texts = lowered_modules.texts_of_module(record.artefacts.module)
    return cached_places(module, stablehlo.read(*texts, table), table)


def _lines(places: CachedPlaces | None, module: Module, frames: Frames) -> tuple[tuple[int, str, int], ...] | None:
    """The line of each frame number; None where they are the module's own."""
    if places is None or places.frame is None:
        return None
    spans = ((number, frames.span(frame)) for number, frame in sorted(places.frame.items()))
    return tuple((number, span.file, span.line) for number, span in spans)

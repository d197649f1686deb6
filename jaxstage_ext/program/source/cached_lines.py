"""The lines of an executable that JAX's persistent cache gave, and what is said of them."""

from __future__ import annotations

from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import plural
from jaxstage_ext.report.unavailable import Unavailable

_SOURCE = (
    "The executable comes from JAX's persistent cache, and names the lines and name scopes of the program that was "
    "compiled first"
)
MATCHED = f"{_SOURCE}; those shown are this program's, matched with its StableHLO"
"""Said where all places are known."""
_REMEDY = (
    "{} compiles in a worker, which has no cache; "
    "jax.config.update('jax_compilation_cache_include_metadata_in_key', True) makes JAX keep an entry for each version "
    "of the lines"
)


def _remedy() -> str:
    return _REMEDY.format(typed("%%compile --isolate", "jaxstage_ext.inspect(f, ..., isolate=True)"))


@fact
def cached_lines(program: Program) -> CachedPlaces | None:
    """Where the instructions of an executable that was compiled from an earlier program stand in this one.

    None where the executable names this program's own places.
    """
    try:
        return program.cached_places()
    except (ValueError, IndexError, Unavailable):
        return None


def notes(program: Program) -> list[str]:
    """What is said of lines and name scopes that could not be matched; those that were are this program's own."""
    places = cached_lines(program)
    if places is None:
        return []
    written = [_unmatched(places)] if places.unknown else []
    written += ["Some name scopes could not be matched, and are unknown"] if "" in places.scope.values() else []
    return [". ".join([_SOURCE, *written, _remedy()]) + "."] if written else []


def _unmatched(places: CachedPlaces) -> str:
    total = plural(places.known + places.unknown, "instruction")
    return f"{places.unknown:,} of {total} could not be matched with this program's StableHLO; their lines are unknown"

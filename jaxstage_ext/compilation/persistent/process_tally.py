"""What the persistent cache did in this kernel, in all."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from jaxstage_ext.compilation.records.compile_record import CacheOutcome, PersistentFacts

_MOST_KEYS = 50_000


@dataclass
class CacheTally:
    """Counts and seconds of the compiles that asked the cache."""

    compiles: Counter[CacheOutcome] = field(default_factory=Counter)
    """How many ended so."""
    seconds: Counter[CacheOutcome] = field(default_factory=Counter)
    """How long those took that were compiled, by outcome."""
    read: float = 0.0
    saved: float = 0.0
    """`read`, `saved`: seconds of the hits; of `hits_without_time` it is not known what they saved."""
    hits_without_time: int = 0
    hit_keys: set[tuple[str, str]] = field(default_factory=set)
    """The entries that were read, by folder."""
    set_aside: int = 0
    """Damaged entries that were renamed."""
    without_key: int = 0
    """Compiles that did not ask, since JAX could not make their key."""
    written_keys: set[tuple[str, str]] = field(default_factory=set)
    """The entries that were written, by folder."""
    limits: dict[CacheOutcome, Counter[float]] = field(default_factory=dict)
    """Which limits kept programs from being written, in s or bytes, and how many each, by outcome."""

    @property
    def hit_rate(self) -> float | None:
        """The share of hits among the compiles that a folder was in use for; None where there was none."""
        asked = sum(count for outcome, count in self.compiles.items() if outcome is not CacheOutcome.OFF)
        return self.compiles[CacheOutcome.HIT] / asked if asked else None


class _Kernel:
    def __init__(self) -> None:
        self.lock = threading.RLock()  # an object's end may compile, inside `add`
        self.tally = CacheTally()


_kernel = _Kernel()


def tally() -> CacheTally:
    """The tally of this kernel."""
    return _kernel.tally


def forget() -> None:
    """Count from nothing."""
    _kernel.tally = CacheTally()


def add(made: PersistentFacts, seconds: float) -> None:
    """Count one compile, which took so long in all."""
    with _kernel.lock:
        counted = _kernel.tally
        counted.compiles[made.outcome] += 1
        if made.outcome is not CacheOutcome.HIT:
            counted.seconds[made.outcome] += seconds  # type: ignore[assignment]
            _add_miss(counted, made)
            return
        counted.read += made.read_seconds or 0.0
        counted.saved += made.saved_seconds or 0.0
        counted.hits_without_time += made.saved_seconds is None
        if len(counted.hit_keys) < _MOST_KEYS:
            counted.hit_keys.add((made.folder, made.key))


def _add_miss(counted: CacheTally, made: PersistentFacts) -> None:
    if made.limit is not None:
        counted.limits.setdefault(made.outcome, Counter())[made.limit] += 1
    if made.outcome is CacheOutcome.WRITTEN and len(counted.written_keys) < _MOST_KEYS:
        counted.written_keys.add((made.folder, made.key))


def count_without_key() -> None:
    """Count a compile whose key JAX could not make."""
    with _kernel.lock:
        _kernel.tally.without_key += 1


def count_set_aside() -> None:
    """Count a damaged entry that was renamed."""
    with _kernel.lock:
        _kernel.tally.set_aside += 1

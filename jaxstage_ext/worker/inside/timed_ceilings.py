"""How fast this machine's CPU computes and moves data through XLA, measured in less than a second by jaxlib alone.

All programs are compiled first. Then each runs once a round until the time is over, and its fastest run counts: a
moment in which other programs keep the machine busy spoils one round of all programs, not all rounds of one. They take
no arguments and nobody reads their results, since arrays of jaxlib import jax.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jaxlib import _jax, xla_client  # type: ignore[attr-defined, unused-ignore]

from jaxstage_ext.worker.inside import timed_programs
from jaxstage_ext.worker.inside.timed_programs import FUNCTIONS, PRODUCTS, SIZES

MARGIN = 2.0
"""How many times slower or faster than those measured the other functions of their kind may be."""
CACHED = (256 << 10, 1 << 20)
"""Bytes of the arrays that are to fit in caches."""
_IN_CACHE, _BEYOND = 128, 10
"""How often one program scales an array: one in the caches, and one beyond them."""
_NOT_MOVED = 2e12
"""Bytes per second that no CPU's memory moves."""
_LONGEST = 0.03
"""Seconds that one run of a product may take."""
_ROUNDS = 3
"""How often each program runs at least, whatever the time."""


class Timed(NamedTuple):
    """A program that is timed.

    Attributes:
      name: what it measures, and its size.    work: what one run does: operations, bytes or functions. It is repeated
        in the run, so that filling the arrays takes little of it; a rate is too low rather than too high.
    """

    name: str
    work: float
    run: Callable[[], object]


class QuickCeilings:
    """One measurement by a client of one CPU device, whose threads are the cores that this process may use."""

    def __init__(self, client: Any, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._client, self._clock = client, clock
        self._began, self._seconds = clock(), seconds
        self._devices = _jax.DeviceList(tuple(client.local_devices()))
        self._options = xla_client.CompileOptions()

    def measure(self, memory: int, cache: int) -> dict[str, Any]:
        """Rates: `products` by dtype in operations per second, `bandwidth` and `cache_bandwidth` in bytes per second.

        `functions` per second are (at least, at most) by kind; `seconds` is how long it took.

        Args:
          memory: bytes of an array that the caches cannot hold.
          cache: the most bytes of an array that is to fit in them.
        """
        timed = [*self._products("f32"), *self._moved(memory, cache), *self._functions()]
        timed += [one for dtype in PRODUCTS if dtype != "f32" and self._has_time() for one in self._products(dtype)]
        seconds = self._fastest(timed)
        rates = _rates({one.name: one.work / seconds[one.name] for one in timed})
        return rates | {"seconds": self._clock() - self._began}

    def _has_time(self) -> bool:
        return self._clock() - self._began < self._seconds

    def _fastest(self, timed: Sequence[Timed]) -> dict[str, float]:
        """Seconds of the fastest run of each program, in as many rounds as there is time for, but in a few at least."""
        fastest, rounds = {one.name: float("inf") for one in timed}, 0
        while rounds < _ROUNDS or self._clock() - self._began < self._seconds:
            for one in timed:
                fastest[one.name] = min(fastest[one.name], self._time(one))
            rounds += 1
        return fastest

    def _time(self, one: Timed) -> float:
        started = self._clock()
        one.run()
        return self._clock() - started

    def _moved(self, memory: int, cache: int) -> list[Timed]:
        sizes = [size for size in CACHED if size <= cache] or [cache]
        texts = [(f"cache {size}", 2 * size * _IN_CACHE, timed_programs.scaled(size // 4, _IN_CACHE)) for size in sizes]
        return [*(Timed(name, work, self._compiled(text)) for name, work, text in texts), self._beyond(memory)]

    def _beyond(self, memory: int) -> Timed:
        """An array that is filled once and scaled often."""
        work = (2 * _BEYOND + 1) * memory
        made = Timed("beyond", work, self._compiled(timed_programs.scaled_apart(memory // 4, _BEYOND)))
        if self._time(made) > work / _NOT_MOVED:
            return made
        # XLA of JAX 0.10 heeds no barrier, and computes the one element alone
        return Timed("beyond", work, self._compiled(timed_programs.scaled(memory // 4, _BEYOND)))

    def _functions(self) -> list[Timed]:
        names = [name for kind in FUNCTIONS for name in kind]
        return [Timed(name, timed_programs.ELEMENTS, self._compiled(timed_programs.function(name))) for name in names]

    def _products(self, dtype: str) -> list[Timed]:
        """The products of the sizes that are fast enough, which the time of a smaller one tells."""
        made: list[Timed] = []
        for size, following in zip(SIZES, (*SIZES[1:], SIZES[-1]), strict=True):
            text = timed_programs.products(dtype, size)
            made.append(Timed(f"{dtype} {size}", 2.0 * timed_programs.REPEATED * size**3, self._compiled(text)))
            made[-1].run()
            each = self._time(made[-1]) / timed_programs.REPEATED
            if each * (following / size) ** 3 > _LONGEST or not self._has_time():
                break
        return made

    def _compiled(self, text: str) -> Callable[[], object]:
        """A run of a program, which waits for its end."""
        program = self._client.compile_and_load(
            text.encode(), executable_devices=self._devices, compile_options=self._options
        )
        return lambda: program.execute_sharded([], with_tokens=True).consume_token().block_until_ready()


def _rates(rates: dict[str, float]) -> dict[str, Any]:
    def best(name: str) -> float:
        return max((rate for of, rate in rates.items() if of.split()[0] == name), default=0.0)

    bandwidth = best("beyond")
    functions = [[rates[name] for name in kind] for kind in FUNCTIONS]
    return {
        "products": {dtype: rate for dtype in PRODUCTS if (rate := best(dtype))},
        "bandwidth": bandwidth or None,
        "cache_bandwidth": max(best("cache"), bandwidth),
        "functions": [(min(kind) / MARGIN, max(kind) * MARGIN) for kind in functions],
    }

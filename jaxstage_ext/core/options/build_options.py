"""Compile options other than XLA flags: those of JAX's CompileOptions, and the devices of a program.

JAX compiles every program for one replica and as many partitions as its mesh has devices. So the numbers of replicas
and partitions are only checked against the program, while the devices of a cross-compilation target can be chosen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.report.deliberate_error import DeliberateError

REPLICAS, PARTITIONS, ASSIGNMENT = "num_replicas", "num_partitions", "device_assignment"
_OURS = (REPLICAS, PARTITIONS, ASSIGNMENT)
_LEVELS = {"UNKNOWN": 0, "O0": 9, "O1": 19, "O2": 29, "O3": 39}
"""https://openxla.org/xla/effort_levels, by XLA's numbers, which are all that jax 0.10 takes."""
_TRIED = {
    "optimization_level": 19,
    "memory_fitting_level": 19,
    "exec_time_optimization_effort": 0.5,
    "memory_fitting_effort": 0.5,
    "individually_defined_output_indices": (),
}


class BuildOptionError(DeliberateError, ValueError):
    """An invalid build option; the message is one line."""


def knows(name: str) -> bool:
    """Whether this is the name of a build option, of this JAX or of another version."""
    return name in _OURS or name in _TRIED or name in jax_options.build_options()


def read(name: str, value: Any) -> Any:
    """The value as JAX takes it. Raises BuildOptionError for an invalid value, or an option that this JAX lacks."""
    if name in _OURS:
        return _assignment(value) if name == ASSIGNMENT else _count(name, value)
    if name not in _TRIED or not jax_options.sets_itself(name, _TRIED[name]):
        raise BuildOptionError(
            f"{name} cannot be set with JAX {jax_options.version()}, which sets it itself or does not have it"
        )
    if name.endswith("_level"):
        return _level(name, value)
    return _effort(name, value) if name.endswith("_effort") else _integers(name, value)


def _level(name: str, value: Any) -> int:
    text = str(value).strip().upper()
    numbers = {str(number): number for number in _LEVELS.values()}
    if isinstance(value, bool) or text not in _LEVELS | numbers:
        raise BuildOptionError(f"{name} must be one of {', '.join(_LEVELS)}, not {value!r:.60}")
    return _LEVELS[text] if text in _LEVELS else numbers[text]


def _effort(name: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not -1 <= number <= 1:
        raise BuildOptionError(f"{name} must be a number from -1 to 1, not {value!r:.60}")
    return number


def _count(name: str, value: Any) -> int:
    number = _integer(value)
    if number is None or number < 1:
        raise BuildOptionError(f"{name} must be a positive integer, not {value!r:.60}")
    if name == REPLICAS and number != 1:
        raise BuildOptionError(
            f"num_replicas={number}: JAX compiles for one replica; to replicate a value, use a mesh axis that its "
            "PartitionSpec does not name"
        )
    return number


def _assignment(value: Any) -> tuple[int, ...]:
    ids = _integers(ASSIGNMENT, value)
    if not ids or min(ids) < 0 or len(set(ids)) < len(ids):
        raise BuildOptionError(f"{ASSIGNMENT} must be distinct device ids such as 0,2,1,3, not {value!r:.60}")
    return ids


def _integers(name: str, value: Any) -> tuple[int, ...]:
    parts = re.sub(r"[\[\]()]", "", value).split(",") if isinstance(value, str) else value
    ids = [_integer(part) for part in parts] if isinstance(parts, Sequence) else [None]
    if None in ids:
        raise BuildOptionError(f"{name} must be integers such as 0,2, not {value!r:.60}")
    return tuple(part for part in ids if part is not None)


def _integer(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def for_xla(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options for XLA: those that do not describe the program's devices."""
    return {name: value for name, value in given.items() if name not in _OURS}


def order(given: Mapping[str, Any], count: int, room: int | None) -> tuple[int, ...] | None:
    """The chosen device ids of a program of `count` devices; None where none were chosen.

    `room` is the number of the target's devices, or None where JAX itself places the program.
    Raises BuildOptionError where an option contradicts the program.
    """
    partitions, ids = given.get(PARTITIONS, count), given.get(ASSIGNMENT)
    if partitions != count:
        raise BuildOptionError(
            f"num_partitions={partitions}, but the program has {count:,}: JAX makes one partition for each device of "
            "its mesh"
        )
    if ids is None:
        return None
    if len(ids) != count:
        raise BuildOptionError(f"device_assignment has {len(ids):,} devices, but the program has {count:,}")
    if room is None:
        raise BuildOptionError(
            "device_assignment needs a target other than local, which uses the devices of the mesh in order"
        )
    if max(ids) >= room:
        raise BuildOptionError(f"device_assignment names device {max(ids)}, but the target has 0 to {room - 1}")
    return tuple(ids)

"""Several sets of compile options that one call is compiled with, and what each is called beside the others."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core.options.flag_values import LEVEL, OptionError, build, check, shown

MOST_SETS = 16
NO_OPTIONS = "no options"
_LONGEST = 60


@dataclass(frozen=True)
class OptionSet:
    """Compile options as jaxlib takes them, and the label that sets them apart; "" where they are the only ones."""

    options: Mapping[str, Any]
    label: str = ""


def checked(given: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None) -> tuple[OptionSet, ...]:
    """The sets of `compiler_options`: one mapping, or a list of them. Raises OptionError."""
    if given is None or isinstance(given, Mapping):
        return (OptionSet(check(given or {})),)
    several = list(given)
    if not all(isinstance(one, Mapping) for one in several):
        raise OptionError(f"compiler_options must be a dict, or a list of dicts to compare, not {str(given)[:80]!r}")
    return labelled([check(one) for one in several])


def of_line(
    xla: Iterable[str], levels: Iterable[int], profile: str | None, more: Mapping[str, Any]
) -> tuple[OptionSet, ...]:
    """Every combination of the levels with the values of flags that are given several times.

    Raises OptionError.
    """
    assignments: dict[str, list[str]] = {}
    for text in xla:
        name = text.partition("=")[0].strip().lstrip("-").replace("-", "_").removeprefix("xla_")
        assignments.setdefault(name, []).append(text)
    texts = list(assignments.values())
    wanted: list[int | None] = [*levels] or [None]
    if (count := math.prod([len(wanted), *map(len, texts)])) > MOST_SETS:
        raise OptionError(f"the options combine to {count:,} compiles; give values for at most {MOST_SETS}")
    return labelled([build(chosen, level, profile, more) for level in wanted for chosen in itertools.product(*texts)])


def labelled(sets: Sequence[Mapping[str, Any]]) -> tuple[OptionSet, ...]:
    """The sets, each called by the options that not all have. Raises OptionError for none, or for too many."""
    if not 1 <= len(sets) <= MOST_SETS:
        raise OptionError(f"{len(sets)} sets of compile options were given; give from 1 to {MOST_SETS}")
    if len(sets) == 1:
        return (OptionSet(sets[0]),)
    names = dict.fromkeys(name for one in sets for name in one)
    differing = [name for name in names if any(one.get(name) != sets[0].get(name) for one in sets)]
    labels = [_labelled(one, differing) for one in sets]
    for at, one in enumerate(sets):
        if any(one == other for other in sets[:at]):
            raise OptionError(f"two of the sets of compile options are the same: {spelled(one)}; drop one")
    seen = Counter(labels)
    return tuple(
        OptionSet(one, f"{label} ({at + 1})" if seen[label] > 1 else label)
        for at, (one, label) in enumerate(zip(sets, labels, strict=True))
    )


def spelled(options: Mapping[str, Any]) -> str:
    """What a set of options is called: `gpu_async_dot=true -O 1`, cut where it is long."""
    return _labelled(options, options)


def _labelled(options: Mapping[str, Any], differing: Iterable[str]) -> str:
    values = shown({name: options[name] for name in differing if name in options})
    told = [
        f"-O {value}" if name == LEVEL else f"{name.removeprefix('xla_')}={value}" for name, value in values.items()
    ]
    text = " ".join(" ".join(told).split()) or NO_OPTIONS
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

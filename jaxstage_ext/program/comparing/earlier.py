"""Programs that were inspected before, beside those of a call: what an inspection is compared with."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from jaxstage_ext.core.targets.target import LOCAL, TargetError, parse
from jaxstage_ext.program.program import Program


def beside(programs: Sequence[Program], earlier: Program, name: str) -> dict[str, Program]:
    """These programs, and copies of the earlier ones under labels of their own, by label.

    `earlier` is the first of its call, which stands for all of it, or another, which stands for itself; `name` is what
    it is called. What it was itself compared with is left out.
    """
    first, all_of_call = programs[0], list(earlier.targets.values())
    is_whole = earlier is all_of_call[0] and not earlier.is_earlier
    kept = [one for one in all_of_call if not one.is_earlier] if is_whole else [earlier]
    copies = [_copied(one, first, _label(one, name, alone=len(kept) == 1)) for one in kept]
    return by_label([*programs, *copies])


def by_label(programs: Sequence[Program]) -> dict[str, Program]:
    """The programs by label, each of which then knows the others."""
    labelled = {program.label: program for program in programs}
    for program in programs:
        program.targets = labelled
    return labelled


def copies(programs: Mapping[str, Program]) -> list[Program]:
    """The programs of one call, without those that it was compared with, free to stand beside others."""
    return [copy.copy(program) for program in programs.values() if not program.is_earlier]


def _copied(program: Program, first: Program, label: str) -> Program:
    """The program with what is known of it, listed with the call that it is compared with."""
    other = copy.copy(program)
    other.origin, other.opened, other.is_earlier, other.label = first.origin, [], True, label
    return other


def _label(program: Program, name: str, alone: bool) -> str:
    """What the user calls it; beside that its own label, or that it was before, where it could be taken for another."""
    if not alone or program.target.name != LOCAL.name:
        return f"{program.label} · {name}"
    return f"before: {name}" if _is_target(name) else name


def _is_target(name: str) -> bool:
    try:
        parse(name)
    except TargetError:
        return False
    return True

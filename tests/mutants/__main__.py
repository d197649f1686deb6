"""`python -m tests.mutants`: each deliberate fault, in a copy of the tree, must turn a test red.

`python -m tests.mutants WORD...` runs those whose name, room or file has one of the words; `--list` names them.
`--whole` runs the tests of all of them on the copy without a fault, where they must pass.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.mutants.mutant import Mutant, StaleMutant, mutants
from tests.mutants.tree import copied, with_fault
from tests.mutants.verdict import Verdict, verdict


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.split("\n")[0])
    parser.add_argument("word", nargs="*", help="those whose name or file has it")
    parser.add_argument("--list", action="store_true", help="name them, and run nothing")
    parser.add_argument("--whole", action="store_true", help="run their tests without a fault")
    given = parser.parse_args(arguments)
    chosen = [one for one in mutants() if not given.word or any(w in f"{one.name} {one.file}" for w in given.word)]
    if given.list or not chosen:
        print(*(f"{one.name}  ({one.kind}, {one.file})" for one in chosen), sep="\n")
        return 0 if chosen else 1
    with copied() as tree:
        return _without_fault(tree, chosen) if given.whole else _with_faults(tree, chosen)


def _with_faults(tree: Path, chosen: Sequence[Mutant]) -> int:
    missed = [one.name for one in chosen if not _is_red(tree, one)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mutants are red", *missed, sep="\n  not red: ")
    return 1 if missed else 0


def _is_red(tree: Path, mutant: Mutant) -> bool:
    began = time.monotonic()
    try:
        with with_fault(tree, mutant):
            found = verdict(tree, mutant)
    except StaleMutant as error:
        found = Verdict(problem=str(error))
    said = f"red ({found.failed})" if found.failed else f"BROKEN: {found.problem}" if found.problem else "GREEN"
    print(f"{mutant.name}: {said}, {time.monotonic() - began:.0f} s", flush=True)
    return found.failed is not None


def _without_fault(tree: Path, chosen: Sequence[Mutant]) -> int:
    """All their tests at once, for Python and for the front end."""
    code = 0
    for is_front_end in (False, True):
        side = [one for one in chosen if one.is_front_end == is_front_end]
        if side:
            tests = tuple(dict.fromkeys(test for one in side for test in one.tests))
            found = verdict(tree, replace(side[0], tests=tests))
            print(f"{len(tests)} test files without a fault: {found.problem or found.failed or 'green'}", flush=True)
            code |= found != Verdict()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

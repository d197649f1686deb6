"""A deliberate fault, as data: one file of `tests/mutants/*.toml` for each room."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class Kind(StrEnum):
    """What went wrong in a mutant."""

    SWAPPED_SIGN = "swapped sign"
    DROPPED_ROW = "dropped row"
    STALE_CACHE = "stale cache"
    SWALLOWED_ERROR = "swallowed error"
    WRONG_UNIT = "wrong unit"
    UNESCAPED_TEXT = "unescaped text"
    OFF_BY_ONE = "off by one"
    WRONG_KEY = "wrong key"
    FORGOTTEN_CASE = "forgotten case"
    LEFT_BEHIND = "left behind"
    NO_LIMIT = "no limit"


class StaleMutant(ValueError):
    """The text that a mutant replaces is not in its file, or stands there more than once."""


@dataclass(frozen=True)
class Mutant:
    """A fault in one file.

    Attributes:
      old: the text it replaces, which stands once in the file.
      tests: what must fail, as pytest (or, in the front end, vitest) names it.
    """

    name: str
    kind: Kind
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_front_end(self) -> bool:
        return self.file.startswith("labextension/")

    def of(self, text: str) -> str:
        """The text of its file with the fault in it. Raises StaleMutant."""
        if (found := text.count(self.old)) != 1 or self.new == self.old:
            raise StaleMutant(
                f"{self.name}: its old text stands {found} times in {self.file}; it must stand there once"
            )
        return text.replace(self.old, self.new)


def mutants() -> list[Mutant]:
    """All of them, in the order of the rooms' names."""
    found = []
    for room in sorted(Path(__file__).parent.glob("*.toml")):
        for made in tomllib.loads(room.read_text())["mutant"]:
            found.append(Mutant(**{**made, "kind": Kind(made["kind"]), "tests": tuple(made["tests"])}))
    return found

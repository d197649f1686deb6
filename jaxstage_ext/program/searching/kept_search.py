"""The newest search of each program's layouts, for as long as the program is there, and what its panel asks of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol
from weakref import WeakKeyDictionary

from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.search.layout_result import CompiledFigures, LayoutsFound, SpecGroup


class KeptSearch(Protocol):
    """A search that has ended, or that was stopped with what it had found."""

    @property
    def found(self) -> LayoutsFound:
        """All layouts that were tried, the fastest first; those that were compiled since, with their figures."""

    @property
    def title(self) -> str:
        """The devices in words, such as `8 × v5e`."""

    @property
    def room(self) -> int | None:
        """Bytes of memory of one device; None where unknown."""

    def sentences(self, number: int) -> tuple[str, ...]:
        """The choices of a layout that matter, and what each is worth."""

    def spec_groups(self, number: int) -> tuple[SpecGroup, ...]:
        """The specs of a layout's arguments, by groups of leaves."""

    def codes(self, number: int) -> Mapping[str, str]:
        """A layout as code, by the name of the form."""

    def confirm(self, number: int, progress: Progress | None = None) -> CompiledFigures:
        """Compile a layout; `found` has what that gave. Raises Unavailable where it cannot be compiled."""

    def open_program(self, number: int, progress: Progress | None = None) -> Program:
        """The program compiled with a layout. Raises Unavailable where it cannot be opened."""


_kept: WeakKeyDictionary[Program, KeptSearch] = WeakKeyDictionary()


def keep(program: Program, search: KeptSearch) -> None:
    """Keep a search, in the place of the former."""
    _kept[program] = search


def kept(program: Program) -> KeptSearch | None:
    """The newest search of a program; computes nothing."""
    return _kept.get(program)

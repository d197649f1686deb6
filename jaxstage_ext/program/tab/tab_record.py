"""What a tab of the panel is: all that the live page, saved notebooks, offline pages and still forms ask of it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jaxstage_ext.program.fact import Fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.table import Table

Request: TypeAlias = tuple[str, Mapping[str, Any]]
"""A method of the tab's file of requests, and its parameters."""


class Price(enum.Enum):
    """What answering the requests of a tab takes that nobody has looked at."""

    NOTHING = "milliseconds, of a program of any size"
    SIZE = "milliseconds of a small program"
    EACH = "another time for each request, some of which are answered already"
    COMPILE = "a compile, or a process of its own"


@dataclass(frozen=True)
class TabTable:
    """A table of a tab as still forms show it: its first rows."""

    title: str
    """What stands above it."""
    columns: tuple[str, ...]
    """The names of those that are shown."""
    known: Callable[[Program], Table | None]
    """The table if it is known or takes milliseconds; computes nothing otherwise."""
    is_open: bool = False
    """Whether a page shows it at once; others open by a click."""


def _nothing(program: Program) -> Iterator[Request]:
    return iter(())


@dataclass(frozen=True)
class Tab:
    """A tab of the panel."""

    name: str
    """Also that of its folder in the front end and of its file of requests."""
    has_content: Callable[[Program], bool]
    """Whether the tab has something to show for a program."""
    requests: Callable[[Program], Iterator[Request]] = _nothing
    """All that its views ask, the first view first; an offline page answers them."""
    first: tuple[Request, ...] = ()
    """Those that are answered when the cell ends, of a small program, so that a saved notebook has them."""
    fact: Fact[Any] | None = None
    """What it shows; it is known if this fact is."""
    price: Price = Price.SIZE
    """What answering `requests` takes if the fact is not known."""
    tables: tuple[TabTable, ...] = ()
    """What text and HTML show of it."""
    saved_methods: tuple[str, ...] | None = None
    """The requests that a saved notebook answers; None: all."""
    beside_code: tuple[str, ...] = ()
    """Its requests that the code view makes, which do not mean that someone looked at the tab."""
    of_documents: bool = False
    """Whether the documents alone answer it."""

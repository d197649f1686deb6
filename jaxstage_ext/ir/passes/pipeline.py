"""The passes of a compile: which ran, what each changed, the module's text after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from jaxstage_ext.ir.passes import hlo_graph, pass_table
from jaxstage_ext.ir.passes.diff import Diff, compare_graphs
from jaxstage_ext.ir.passes.module_size import Size
from jaxstage_ext.ir.passes.versions import Versions
from jaxstage_ext.report.table import Table
from jaxstage_ext.store.lru import Lru

if TYPE_CHECKING:
    from jaxstage_ext.ir.passes import history

_MOST_ROWS = 4_000_000
"""Rows of differences that are kept for each pipeline."""


@dataclass(frozen=True)
class Pass:
    """One pass, as it ran once.

    Attributes:
      index: its place in the pipeline, from 0.   pipeline: the group that XLA runs it in; "" for none.
      name: XLA's; "outside a pass" for what changed before a pipeline's first pass.
      changed: whether the module's text differs afterwards.
      seconds: of the pass and of writing its dump; None where XLA does not tell.
      before, after: how large the module was.
      version: the number of the text after it, see `Pipeline.versions`; that before it is one less where it changed.
    """

    index: int
    pipeline: str
    name: str
    changed: bool
    seconds: float | None
    before: Size
    after: Size
    version: int
    _versions: Versions = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The module after the pass, as XLA printed it but without metadata."""
        return str(self._versions[self.version])

    @property
    def text_before(self) -> str:
        """The module before the pass."""
        return str(self._versions[self.version - self.changed])


@dataclass(frozen=True, eq=False)
class Pipeline(Sequence[Pass]):
    """The passes of one compile in the order in which they ran.

    Attributes:
      passes: all that are known.   versions: the texts, the first being that before all passes.
      complete: whether passes that changed nothing are known too.   notes: what is to be known about the list.
      text_bytes: of all texts that XLA dumped.
    """

    passes: tuple[Pass, ...]
    versions: Versions
    complete: bool
    notes: tuple[str, ...] = ()
    text_bytes: int = 0
    _diffs: Lru[Diff] = field(default_factory=lambda: Lru(_MOST_ROWS), repr=False)
    _graphs: Lru[hlo_graph.Graph] = field(default_factory=lambda: Lru(3), repr=False)

    def __len__(self) -> int:
        return len(self.passes)

    @overload
    def __getitem__(self, index: int) -> Pass: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Pass, ...]: ...

    def __getitem__(self, index: int | slice) -> Pass | tuple[Pass, ...]:
        return self.passes[index]

    def __iter__(self) -> Iterator[Pass]:
        return iter(self.passes)

    @cached_property
    def changed(self) -> tuple[Pass, ...]:
        """The passes that changed something."""
        return tuple(this for this in self.passes if this.changed)

    def diff(self, index: int) -> Diff:
        """What the pass of that index changed; prints as the changed lines. Raises IndexError where there is none."""
        this = self.passes[index]
        return self._between(this.version - this.changed, this.version)

    def _between(self, before: int, after: int) -> Diff:
        key = f"{before} {after}"
        if (made := self._diffs.get(key)) is None:
            texts = self.versions.texts(before), self.versions.texts(after)
            made = compare_graphs(self._graph(before), self._graph(after), *texts)
            self._diffs.put(key, made, len(texts[0]) + len(texts[1]))
        return made

    def _graph(self, version: int) -> hlo_graph.Graph:
        if (made := self._graphs.get(str(version))) is None:
            made = self.versions.graph(version)
            self._graphs.put(str(version), made, 1)
        return made

    def follow(self, name: str) -> history.History:
        """The instruction of this name, with or without "%", through all passes: what each made of it.

        The name is taken from the last module that has it. Raises KeyError where none has.
        """
        from jaxstage_ext.ir.passes import history

        name = name.removeprefix("%")
        for version in reversed(range(len(self.versions))):
            if (row := history.row_of(self, version, name)) >= 0:
                return history.follow(self, version, row)
        raise KeyError(f"no module of these passes has an instruction {name!r}")

    @property
    def table(self) -> Table:
        """The passes as a table."""
        return pass_table.table(self.passes)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, a row for each pass. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas(units=False).set_index("index")

    def to_json(self) -> str:
        """Versioned JSON, as `Table.to_json`."""
        return self.table.to_json()

    def __repr__(self) -> str:
        return pass_table.text(self)


def pipeline(head: Mapping[str, Any], parts: Sequence[bytes]) -> Pipeline:
    """The Pipeline that the worker packed. Raises ValueError or KeyError for anything else."""
    versions = Versions(parts)
    sizes = versions.sizes()
    if not sizes:
        raise ValueError("no text of any pass: this is not a pipeline")
    passes, now = [], 0
    for index, (group, name, seconds, version) in enumerate(head["passes"]):
        before, now = now, now if version is None else int(version)
        seconds = None if seconds is None else float(seconds)
        passes.append(
            Pass(index, str(group), str(name), now != before, seconds, sizes[before], sizes[now], now, versions)
        )
    complete = any(version is None for *_, version in head["passes"])
    return Pipeline(tuple(passes), versions, complete, tuple(head["notes"]), int(head["text_bytes"]))

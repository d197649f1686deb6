"""The passes of one compile, the module's text after each, and what each changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

from jaxstage_ext.ir.passes import hlo_graph
from jaxstage_ext.ir.passes.diff import Diff, compare_graphs
from jaxstage_ext.ir.passes.module_size import Size
from jaxstage_ext.ir.passes.versions import Versions
from jaxstage_ext.store.lru import Lru

_MOST_ROWS = 4_000_000
"""Rows of differences that are kept for each compile."""


@dataclass(frozen=True)
class Pass:
    """One run of one pass."""

    index: int
    """Its place in the pipeline, from 0."""
    pipeline: str
    """The group that XLA runs it in; "" for none."""
    name: str
    """XLA's name; "outside a pass" for changes before the first pass of a pipeline."""
    changed: bool
    """Whether the module's text differs afterwards."""
    seconds: float | None
    """Of the pass and of writing its dump; None where XLA does not log it."""
    before: Size
    after: Size
    """`before`, `after`: how large the module was."""
    version: int
    """The number of the text after it in `Passes.versions`; the text before it is one less where it changed."""
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
class Passes(Sequence[Pass]):
    """The passes of one compile in the order in which they ran."""

    passes: tuple[Pass, ...]
    """All that are known."""
    versions: Versions
    """The texts, the first being that before all passes."""
    complete: bool
    """Whether passes that changed nothing are known too."""
    notes: tuple[str, ...] = ()
    """Remarks on the list."""
    text_bytes: int = 0
    """Of all texts that XLA dumped."""
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
        return tuple(step for step in self.passes if step.changed)

    def diff(self, index: int) -> Diff:
        """What the pass with this index changed; prints as the changed lines. Raises IndexError for no such pass."""
        changed, after = self.passes[index].changed, self.passes[index].version
        return self._between(after - changed, after)

    def _between(self, before: int, after: int) -> Diff:
        key = f"{before} {after}"
        if (diff := self._diffs.get(key)) is None:
            texts = self.versions.texts(before), self.versions.texts(after)
            diff = compare_graphs(self._graph(before), self._graph(after), *texts)
            self._diffs.put(key, diff, len(texts[0]) + len(texts[1]))
        return diff

    def _graph(self, version: int) -> hlo_graph.Graph:
        if (graph := self._graphs.get(str(version))) is None:
            graph = self.versions.graph(version)
            self._graphs.put(str(version), graph, 1)
        return graph

"""The passes of a compile as they are shown: a table of them, and one instruction followed through all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Unpack

from jaxstage_ext.ir.passes import pass_history, pass_table
from jaxstage_ext.ir.passes.compiler_passes import Pass, Passes
from jaxstage_ext.ir.passes.versions import Versions
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Pipeline(Passes):
    """The passes of one compile in the order in which they ran; prints as a table."""

    def follow(self, name: str) -> pass_history.PassHistory:
        """The instruction of this name, with or without "%", through all passes: what each made of it.

        The name is taken from the last module that has it. Raises KeyError where none has.
        """
        name = name.removeprefix("%")
        for version in reversed(range(len(self.versions))):
            if (row := pass_history.row_of(self, version, name)) >= 0:
                return pass_history.follow(self, version, row)
        raise KeyError(f"no module of these passes has an instruction {name!r}")

    @property
    def table(self) -> Table:
        """The passes as a table."""
        return pass_table.table(self.passes)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame, a row for each pass. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table.to_pandas(units=False).set_index("index")

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """Versioned JSON; with `limit`, `by` or `where`, rows, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    def __repr__(self) -> str:
        return pass_table.text(self)

    def _repr_html_(self) -> str:
        return pass_table.html(self)


def pipeline(head: Mapping[str, Any], parts: Sequence[bytes]) -> Pipeline:
    """The Pipeline that the worker packed. Raises ValueError, KeyError or TypeError for anything else."""
    versions = Versions(parts)
    if not len(versions):
        raise ValueError("no text of any pass: this is not a pipeline")
    versions.check_whole()
    sizes = versions.sizes()
    passes, now = [], 0
    for index, row in enumerate(head["passes"]):
        group, name, seconds, version = _checked(row)
        before, now = now, now if version is None else version
        if version is not None and not before < version < len(sizes):
            raise ValueError(f"pass {name} left version {version} of {len(sizes)}, after version {before}")
        passes.append(Pass(index, group, name, now != before, seconds, sizes[before], sizes[now], now, versions))
    if now != len(sizes) - 1:
        raise ValueError(f"passes that end in version {now}, of {len(sizes)}")
    if type(text_bytes := head["text_bytes"]) is not int or text_bytes < 0:
        raise ValueError(f"{text_bytes!r:.100} is not a number of bytes")
    complete = any(version is None for *_, version in head["passes"])
    return Pipeline(tuple(passes), versions, complete, tuple(map(str, head["notes"])), text_bytes)


def _checked(row: Sequence[Any]) -> tuple[str, str, float | None, int | None]:
    group, name, seconds, version = row
    if not isinstance(group, str) or not isinstance(name, str) or type(version) not in (int, NoneType):
        raise ValueError(f"not a pass: {row!r:.100}")
    if seconds is not None and (type(seconds) not in (int, float) or not 0 <= seconds < float("inf")):
        raise ValueError(f"pass {name} took {seconds!r:.100} s")
    return group, name, seconds, version

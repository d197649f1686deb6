"""A folder that XLA dumped into, as it is shown: its modules, each of which opens as an Inspection."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxstage_ext.ir.dumps import dump_index
from jaxstage_ext.ir.dumps.dump_index import DumpedModule
from jaxstage_ext.report.text.encodable import shown_name
from jaxstage_ext.report.text.units import plural, scaled

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection
    from jaxstage_ext.report.table import Table


class XlaDump:
    """The modules in a folder that XLA dumped into, by the names of its files; `dump["jit_step"]` opens one.

    Attributes:
      folder: the folder.   modules: what it has, in XLA's order.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser()
        self.modules: tuple[DumpedModule, ...] = tuple(dump_index.read(self.folder))

    @property
    def table(self) -> Table:
        """A row for each module: its number, name, platform, what there is of it, files and bytes."""
        return dump_index.table(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    def __iter__(self) -> Iterator[str]:
        return (module.name for module in self.modules)

    def __getitem__(self, which: str | int) -> Inspection:
        """The module of this name, with or without JAX's "jit_", of XLA's number, or whose files begin so.

        Raises KeyError where there is none, or are several.
        """
        return self.module(which)

    def module(self, which: str | int, target: str | Sequence[str] = ()) -> Inspection:
        """As `[which]`; with a target, what it was before the passes, compiled for that in a worker.

        Raises KeyError where there is none, or are several; UnreadableModule where the dump has too little of it.
        """
        from jaxstage_ext.core.targets.target import parse_all
        from jaxstage_ext.inspection import Inspection
        from jaxstage_ext.program.kinds import module_program

        return Inspection.of(module_program.of_dump(self._module(which), parse_all(target) if target else ()))

    def _module(self, which: str | int) -> DumpedModule:
        found = self._named(which) or self._named(f"jit_{which}")
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{len(found)} modules are named {which!r}; choose one by {_apart(found)}")
        known = ", ".join(dict.fromkeys(shown_name(module.name) for module in self.modules[:20]))
        raise KeyError(f"the dump has no module {which!r}; it has {known}{', …' if len(self.modules) > 20 else ''}")

    def _named(self, which: str | int) -> list[DumpedModule]:
        return [module for module in self.modules if which in (module.name, module.key, module.number)]

    def _ipython_key_completions_(self) -> list[Any]:
        return list(dict.fromkeys(self))

    def __repr__(self) -> str:
        size = scaled(sum(module.size for module in self.modules), "B")
        listed = f"{plural(len(self.modules), 'module')} in {shown_name(self.folder.name)}, {size}\n\n{self.table}"
        return f"{listed}\n{_how_to_open(max(self.modules, key=lambda m: m.size))}" if self.modules else listed


def _how_to_open(module: DumpedModule) -> str:
    return f"To open one, give its name or number: %inspect FOLDER {module.number}, in Python dump[{module.name!r}]."


def _apart(modules: Sequence[DumpedModule]) -> str:
    """What tells modules of one name apart: their numbers, or where several processes dumped, how their files begin."""
    numbers = [module.number for module in modules]
    if len(set(numbers)) == len(numbers):
        return f"its number: {', '.join(map(str, numbers))}"
    return f"how its files begin: {', '.join(shown_name(module.key) for module in modules)}"

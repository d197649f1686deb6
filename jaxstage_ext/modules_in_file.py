"""The modules in a file that holds several, as it is shown: each opens as an Inspection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxstage_ext.ir.module_pieces import ModulePiece
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.units import plural

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


class ModulesInFile:
    """The modules in a file, in its order; `modules[2]` opens the second, `modules["step"]` that of this name.

    Attributes:
      title: what the file is called.   modules: what it holds.
    """

    def __init__(
        self, title: str, modules: Sequence[ModulePiece], path: Path | None = None, targets: Sequence[str] = ()
    ) -> None:
        self.title, self.modules, self._path, self._targets = title, tuple(modules), path, tuple(targets)

    @property
    def table(self) -> Table:
        """A row for each module: its number, which counts from 1, its name, and its lines."""
        columns = {
            "number": Column([*range(1, len(self.modules) + 1)], "", "by which it opens"),
            "module": Column([module.name for module in self.modules]),
            "lines": Column([module.data.strip().count(b"\n") + 1 for module in self.modules]),
        }
        return Table("modules", columns)

    def __len__(self) -> int:
        return len(self.modules)

    def __iter__(self) -> Iterator[str]:
        return (module.name for module in self.modules)

    def __getitem__(self, which: str | int) -> Inspection:
        """The module of this number or name. Raises KeyError where there is none, or are several."""
        return self.module(which)

    def module(self, which: str | int, target: str | Sequence[str] = ()) -> Inspection:
        """As `[which]`, compiled in a worker for a target, or else for those that `load` was given.

        Raises KeyError where there is none, or are several; UnreadableModule where it is damaged.
        """
        from jaxstage_ext.core.targets.target import parse_all
        from jaxstage_ext.inspection import Inspection
        from jaxstage_ext.program.kinds import module_program

        number = self._number(which)
        module = self.modules[number]
        title = f"{self.title}, {module.name or f'module {number + 1}'}"
        wanted = target or self._targets
        targets = parse_all(wanted) if wanted else ()
        return Inspection.of(module_program.opened(module.data, title, self._path, targets, module.entry))

    def _number(self, which: str | int) -> int:
        found = [number for number, module in enumerate(self.modules) if which == number + 1 or which == module.name]
        if len(found) == 1:
            return found[0]
        if found:
            numbers = ", ".join(str(number + 1) for number in found[:20])
            raise KeyError(f"{len(found)} modules are named {which!r}; choose one by its number: {numbers}")
        known = ", ".join(dict.fromkeys(module.name for module in self.modules[:20] if module.name))
        raise KeyError(f"{self.title} has no module {which!r}; it has 1 to {len(self)}{f': {known}' if known else ''}")

    def _ipython_key_completions_(self) -> list[Any]:
        return [name for name in dict.fromkeys(self) if name]

    def __repr__(self) -> str:
        how = "To open one, give its number or name: %inspect FILE 1, in Python modules[1]."
        return f"{plural(len(self), 'module')} in {self.title}\n\n{self.table}\n{how}"

"""A folder that XLA dumped into, or a file of several modules, as it is shown: each opens as an Inspection."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxstage_ext.ir.dumps import dump_index
from jaxstage_ext.ir.dumps.dump_index import DumpedModule
from jaxstage_ext.ir.module_pieces import ModulePiece
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.encodable import shown_name
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import plural, scaled

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection


_MOST_OPENED, _MOST_BYTES = 8, 64 << 20
"""Modules that a panel opens at once, and their bytes."""


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
        from jaxstage_ext.api.inspection import Inspection
        from jaxstage_ext.core.targets.target import parse_all
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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """In a notebook a panel of the largest modules, with the list of all; elsewhere the list."""
        sizes = {module.key: module.size for module in self.modules}
        largest = sorted(sizes, key=lambda key: -sizes[key])
        return _together(self, [(key, sizes[key]) for key in largest])

    def __repr__(self) -> str:
        size = scaled(sum(module.size for module in self.modules), "B")
        listed = f"{plural(len(self.modules), 'module')} in {shown_name(self.folder.name)}, {size}\n\n{self.table}"
        return f"{listed}\n{_how_to_open(max(self.modules, key=lambda m: m.size))}" if self.modules else listed


def _how_to_open(module: DumpedModule) -> str:
    magic = typed(f"%inspect FOLDER {module.number}, in Python ", "")
    return f"To open one, give its name or number: {magic}dump[{module.name!r}]."


def _apart(modules: Sequence[DumpedModule]) -> str:
    """What tells modules of one name apart: their numbers, or where several processes dumped, how their files begin."""
    numbers = [module.number for module in modules]
    if len(set(numbers)) == len(numbers):
        return f"its number: {', '.join(map(str, numbers))}"
    return f"how its files begin: {', '.join(shown_name(module.key) for module in modules)}"


def _together(dump: XlaDump | ModulesInFile, modules: Sequence[tuple[str | int, int]]) -> Any:
    """The forms of some modules, given with their bytes, under one panel, as many as open at once; and the list."""
    from jaxstage_ext.api import inspection

    opened: list[Inspection] = []
    room = _MOST_BYTES
    for which, size in modules[:_MOST_OPENED]:
        if opened and size > room:
            break
        with suppress(ValueError, OSError, KeyError, RuntimeError):  # the list has it all the same
            opened.append(dump.module(which))
            room -= size
    made = inspection.together(opened) if opened else None
    listed = {"text/plain": repr(dump)}
    if made is None:
        return listed
    data, *metadata = made if isinstance(made, tuple) else (made,)
    return (data | listed, *metadata) if metadata else data | listed


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
        from jaxstage_ext.api.inspection import Inspection
        from jaxstage_ext.core.targets.target import parse_all
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

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """In a notebook a panel of the first modules, with the list of all; elsewhere the list."""
        return _together(self, [(number, len(module.data)) for number, module in enumerate(self.modules, 1)])

    def __repr__(self) -> str:
        how = f"To open one, give its number or name: {typed('%inspect FILE 1, in Python ', '')}modules[1]."
        return f"{plural(len(self), 'module')} in {self.title}\n\n{self.table}\n{how}"

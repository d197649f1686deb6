"""What a folder that XLA dumped into holds, by the names of its files alone: none is opened."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.encodable import shown_name

_MODULE = r"(?P<key>(?P<numbered>(?:\d+\.)?module_(?P<number>\d+))\.(?P<name>"
"""A name begins with microseconds under --xla_dump_include_timestamp."""
_NAMED = re.compile(_MODULE + r"[^.]+))(?:\.(?P<rest>.+))?")
_PLATFORM = r"(?:(?P<platform>sm_\d+(?:\.\d+)?[a-z]?_gpu|[A-Za-z]\w*?)_)?"
_MARKED = re.compile(_MODULE + rf".+?))\.(?:before_optimizations|{_PLATFORM}after_optimizations)\b.*")
"""Of these files it is certain where the name of the module ends, which may hold dots: "IrToHlo.3979"."""
_NUMBERED = re.compile(r"\d{4,}\.")
_OPTIMISED = re.compile(_PLATFORM + r"after_optimizations\.(?P<form>hlo\.pb|txt)(?:\.gz)?")
_PLATFORMS = ("cpu", "tpu", "gpu")
_BEFORE = re.compile(r"before_optimizations\.(?P<form>hlo\.pb|txt)(?:\.gz)?")
"""Protos are gzip files under --xla_dump_compress_protos."""
_CODE = {
    "ptx": "PTX",
    "ir-with-opt.ll": "LLVM IR",
    "ir-no-opt.ll": "LLVM IR",
    "ttir.txt": "Triton IR",
    "o": "object code",
}


@dataclass(frozen=True)
class DumpedModule:
    """A module in a dump."""

    folder: Path
    """Of the dump."""
    key: str
    """With which its files begin, "module_0002.jit_step", or "1795.module_0002.jit_step"."""
    number: int
    """XLA's, which counts the modules of a process."""
    name: str
    """"jit_step"."""
    files: tuple[tuple[str, int], ...] = field(repr=False)
    """The rest of each file's name, and its bytes."""
    untimed_key: str = ""
    """With which those of its files begin that XLA names without the time; "" where there are none."""

    @property
    def keys(self) -> list[str]:
        """With which its files begin."""
        return [self.key, *filter(None, [self.untimed_key])]

    @cached_property
    def _modules(self) -> list[tuple[str, int]]:
        """Its files of before and after the passes, among those of every pass."""
        return [(rest, size) for rest, size in self.files if "_optimizations." in rest]

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(size for _, size in self.files)

    @property
    def platform(self) -> str:
        """What it was compiled for, "cpu", "gpu" or "tpu"; "" where no file says it."""
        named = (match["platform"] for rest, _ in self._modules if (match := _OPTIMISED.fullmatch(rest)))
        found = next((name for name in named if name), "")
        return next((platform for platform in _PLATFORMS if found.rpartition("_")[2] == platform), "")

    @property
    def has_pass_texts(self) -> bool:
        """Whether the modules between its passes are there as text."""
        return any(_is_pass(rest) for rest, _ in self.files)

    @property
    def has_code(self) -> bool:
        """Whether machine code of its kernels is there."""
        return bool(self._code())

    @property
    def has_buffers(self) -> bool:
        """Whether its buffer assignment is there."""
        return self._form(_OPTIMISED, "hlo.pb") is not None

    def module_file(self, before_passes: bool = False) -> Path | None:
        """The file of its optimised module, or of that before the passes where there is none, or it is asked for."""
        for pattern in (_BEFORE,) if before_passes else (_OPTIMISED, _BEFORE):
            for form in ("hlo.pb", "txt"):
                if (rest := self._form(pattern, form)) is not None:
                    return self.folder / f"{self.key}.{rest}"
        return None

    def _form(self, pattern: re.Pattern[str], form: str) -> str | None:
        named = ((rest, pattern.fullmatch(rest)) for rest, size in self._modules if size)
        return next((rest for rest, match in named if match and match["form"] == form), None)

    def _code(self) -> list[str]:
        """The kinds of machine code, in the order of `_CODE`."""
        parts = [rest.rsplit(".", 2) for rest, _ in self.files]
        endings = {part[-1] for part in parts} | {".".join(part[-2:]) for part in parts}
        return list(dict.fromkeys(kind for suffix, kind in _CODE.items() if suffix in endings))

    @property
    def holds(self) -> str:
        """What there is of it: "optimised HLO, buffers, passes, LLVM IR"."""
        before = "HLO before the passes" if any(_BEFORE.fullmatch(rest) for rest, _ in self._modules) else ""
        optimised = "optimised HLO" if any(_OPTIMISED.fullmatch(rest) for rest, _ in self._modules) else before
        buffers = "buffers" if self.has_buffers else ""
        passes = "passes" if self.has_pass_texts else ""
        return ", ".join(filter(None, [optimised, buffers, passes, *self._code()])) or "no HLO"


def _is_pass(rest: str) -> bool:
    """Whether a file is the text of the module after a pass: "0003.fusion.after_fusion.before_dce.txt"."""
    return rest.endswith(".txt") and ".after_" in rest and ".before_" in rest and bool(_NUMBERED.match(rest))


def read(folder: Path) -> list[DumpedModule]:
    """The modules in a dump, by number. Raises OSError where the folder cannot be listed."""
    with os.scandir(folder) as entries:
        sizes = {entry.name: _file_size(entry) for entry in entries if _NAMED.fullmatch(entry.name)}
    names: dict[str, set[str]] = {}
    for marked in filter(None, map(_MARKED.fullmatch, sizes)):
        for numbered in (marked["numbered"], _untimed(marked["numbered"])):
            names.setdefault(numbered, set()).add(marked["name"])
    files: dict[str, list[tuple[str, int]]] = {}
    about: dict[str, tuple[int, str]] = {}
    for file, size in sizes.items():
        match = _NAMED.fullmatch(file)
        if match is None or size is None:
            continue
        after = file[len(match["numbered"]) + 1 :]
        known = [name for name in names.get(match["numbered"], ()) if f"{after}.".startswith(f"{name}.")]
        name = max(known, key=len, default=match["name"])
        key = f"{match['numbered']}.{name}"
        about[key] = int(match["number"]), name
        files.setdefault(key, []).append((after[len(name) + 1 :], size))
    timed = {_untimed(key): key for key in sorted(about) if _untimed(key) != key}  # of several, the last one wrote
    owned = {key: untimed for untimed, key in timed.items() if untimed in about}
    modules = [
        DumpedModule(
            folder,
            key,
            number,
            name,
            tuple(sorted([*files[key], *files.get(owned.get(key, ""), [])])),
            owned.get(key, ""),
        )
        for key, (number, name) in about.items()
        if key not in owned.values()
    ]
    return sorted(modules, key=lambda module: (module.number, module.name, module.key))


def _untimed(key: str) -> str:
    return key[key.index("module_") :]


def _file_size(entry: os.DirEntry[str]) -> int | None:
    """Bytes of a file; None for all that is none, such as a link that leads nowhere or to itself."""
    try:
        return entry.stat().st_size if entry.is_file() else None
    except OSError:
        return None


def is_dump(folder: Path) -> bool:
    """Whether a folder has a file that XLA dumped."""
    with os.scandir(folder) as entries:
        return any(_NAMED.fullmatch(entry.name) for entry in entries)


def table(modules: Sequence[DumpedModule]) -> Table:
    """The modules as a table, a row each."""
    columns = {
        "number": Column([module.number for module in modules], "", "XLA's, which counts the modules of a process"),
        "module": Column([shown_name(module.name) for module in modules]),
        "platform": Column([module.platform or None for module in modules]),
        "holds": Column([module.holds for module in modules]),
        "files": Column([len(module.files) for module in modules]),
        "size": Column([module.size for module in modules], "B"),
    }
    unknown = {(row, "platform"): "no file says it" for row, module in enumerate(modules) if not module.platform}
    return Table("modules", columns, unknown)

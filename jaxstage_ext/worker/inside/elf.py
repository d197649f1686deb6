"""The few tables of an ELF64 object that we read: functions, their bytes, their relocations. Needs the stdlib alone.

Layout: System V ABI, chapters 4 (object files) and 5; field names are those of <elf.h>.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_SYMTAB, _RELA, _FUNCTION = 2, 4, 2
MACHINES = {62: "x86-64", 183: "AArch64", 190: "CUDA"}


@dataclass(frozen=True)
class Function:
    """A function's machine code; `calls` maps a byte offset in it to the symbol that a relocation puts there."""

    name: str
    code: bytes
    calls: dict[int, str]


@dataclass(frozen=True)
class Object:
    """What an object file holds. `sizes` are bytes of each section, by name."""

    machine: str
    functions: tuple[Function, ...]
    sizes: dict[str, int]

    def function(self, name: str) -> Function | None:
        return next((function for function in self.functions if function.name == name), None)


def read(data: bytes) -> Object | None:
    """The object in `data`; None where it is not a little-endian ELF64 file, or is damaged."""
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError, OverflowError):
        return None


def _read(data: bytes) -> Object:
    header = _HEADER.unpack_from(data)
    machine, start, size, count, names = header[2], header[6], header[11], header[12], header[13]
    sections = [_SECTION.unpack_from(data, start + i * size) for i in range(count)]
    titles = _content(data, sections[names])
    functions = []
    for table in (section for section in sections if section[1] == _SYMTAB):
        symbols = list(_SYMBOL.iter_unpack(_content(data, table)))
        strings = _content(data, sections[table[6]])
        functions += _functions(data, sections, symbols, strings)
    sizes = {_text(titles, section[0]): section[5] for section in sections}
    return Object(MACHINES.get(machine, f"ELF machine {machine}"), tuple(functions), sizes)


def _functions(
    data: bytes, sections: list[tuple[int, ...]], symbols: list[tuple[int, ...]], strings: bytes
) -> list[Function]:
    functions = []
    for name, info, _, home, value, size in symbols:
        if info & 15 == _FUNCTION and 0 < home < len(sections) and size:
            code = _content(data, sections[home])[value : value + size]
            calls = {
                offset - value: _named(symbols[what >> 32], strings)
                for offset, what, _ in _relocations(data, sections, home)
                if value <= offset < value + size
            }
            functions.append(Function(_text(strings, name), code, calls))
    return functions


def _relocations(data: bytes, sections: list[tuple[int, ...]], home: int) -> list[tuple[int, ...]]:
    tables = (section for section in sections if section[1] == _RELA and section[7] == home)
    return [entry for table in tables for entry in _RELOCATION.iter_unpack(_content(data, table))]


def _named(symbol: tuple[int, ...], strings: bytes) -> str:
    return _text(strings, symbol[0]) or "constant"


def _content(data: bytes, section: tuple[int, ...]) -> bytes:
    return data[section[4] : section[4] + section[5]]


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("utf-8", "replace")

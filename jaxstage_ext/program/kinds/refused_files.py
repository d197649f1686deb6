"""What a file or a folder is that does not open, and what to do with it: one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from jaxstage_ext.ir.dumps import dump_index
from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.unreadable import NoProfile, UnreadableProfile
from jaxstage_ext.report.text.encodable import shown_name
from jaxstage_ext.report.text.typed_forms import typed
from jaxstage_ext.report.text.units import plural

_MOST_ENTRIES = 1000
"""Entries of a folder among which dumps are looked for."""
_CACHE_ENTRY = "an entry of JAX's persistent compilation cache: {} lists the folder that is in use, and verifies it"
_AUTOTUNE = "autotune results of XLA for GPUs, which a compile takes: {}"
_COMPRESSED = "compressed by {}, and no entry of JAX's persistent compilation cache by its name; unpack it first"
_COMMENTS = rb"\A(?:\s|#[^\n]*+\n)*+"
_RESULTS = re.compile(_COMMENTS + rb"(?:version: ?\d+\s+)?results \{")
_SERIALISED_RESULTS = re.compile(rb"\A\x08[\x01-\x09]\x12")
_PTX = re.compile(rb"\A(?:\s|//[^\n]*+\n)*+\.version \d")
_ZLIB = re.compile(rb"\A\x78[\x01\x5e\x9c\xda]")
_BY_PATTERN = (
    (_RESULTS, _AUTOTUNE),
    (_SERIALISED_RESULTS, _AUTOTUNE),
    (_PTX, "PTX, which opens with the folder that XLA dumped it into"),
    (_ZLIB, _COMPRESSED.format("zlib")),
)
_BY_START = (
    (b"SQLite format 3", "an SQLite database, as Nsight Systems exports; profile with jax.profiler"),
    (b"; ModuleID", "LLVM IR, which opens with the folder that XLA dumped it into"),
    (b"\x7fELF", "machine code (ELF); open the folder that XLA dumped it into, or the HLO"),
    (b"\x28\xb5\x2f\xfd", _COMPRESSED.format("zstandard")),
)


def _file_name(source: opening.Source) -> str:
    return "" if isinstance(source, bytes) else Path(source).name


def _what_it_is(head: bytes, name: str) -> str:
    """What a file is that is known and does not open; "" where it is not known."""
    if name.endswith("-cache") and head[:1] in (b"\x78", b"\x28"):
        return _CACHE_ENTRY.format(typed("%compile_cache", "jaxstage_ext.compile_cache(verify=True)"))
    by_start = (what for start, what in _BY_START if head.startswith(start))
    found = next(by_start, next((what for pattern, what in _BY_PATTERN if pattern.match(head)), ""))
    return found.format(_compiling_with_results())


def _compiling_with_results() -> str:
    return typed(
        "%compile --autotune-results FILE -t h100 f(x)",
        'jaxstage_ext.inspect(f, x, target="h100", compiler_options={"xla_gpu_load_autotune_results_from": "FILE"})',
    )


def what_opens(source: opening.Source, error: Exception, head_of: Callable[[opening.Source], bytes]) -> str:
    """That a file or a folder cannot be opened, and what can; of a file in a folder what the error says."""
    name = shown_name(_file_name(source)) or "it"
    if dumps := dumps_below(source):
        return dumps
    if isinstance(error, NoProfile):
        return (
            f"{name} holds nothing that can be opened: no modules that XLA dumped (module_0001.*), no .xplane.pb and "
            "no JSON trace in it or below it"
        )
    if not isinstance(source, bytes) and Path(source).expanduser().is_dir():
        return str(error)
    head = head_of(source)
    if what := _what_it_is(head, _file_name(source)):
        return f"{name} is {what}"
    if not head:
        return f"{name} is empty"
    return (
        f"{name} cannot be opened: it begins with {head[:16]!r}; HLO and StableHLO do (text or "
        "serialised), what jax.export serialised, saved inspections (.json), and profiles (.xplane.pb, .json, .json.gz)"
    )


def dumps_below(source: opening.Source) -> str:
    """Which folders in a folder hold what XLA dumped; "" where none does, and for a file."""
    if isinstance(source, bytes) or not (folder := Path(source).expanduser()).is_dir():
        return ""
    below = sorted(path for path in islice(folder.iterdir(), _MOST_ENTRIES) if path.is_dir() and _is_open_dump(path))
    if not below:
        return ""
    names = ", ".join(shown_name(str(Path(folder.name) / path.name)) for path in below[:3])
    return f"{shown_name(folder.name) or 'it'} holds no modules that XLA dumped, but a folder in it does; open {names}"


def _is_open_dump(folder: Path) -> bool:
    try:
        return dump_index.is_dump(folder)
    except OSError:
        return False


def is_text(source: opening.Source, head_of: Callable[[opening.Source], bytes]) -> bool:
    """Whether a file is text that is not JSON, such as Python code, whose first letter begins a profile by chance."""
    try:
        head = head_of(source).decode(errors="strict")
    except (UnicodeDecodeError, OSError, UnreadableProfile):
        return False
    return all(letter.isprintable() or letter in "\n\r\t" for letter in head) and head.lstrip()[:1] not in ("{", "[")


def dumped_by_jax(source: opening.Source, head: bytes) -> str:
    """What to open instead of a folder that JAX_DUMP_IR_TO names, or of a jaxpr in it; "" for anything else."""
    if not isinstance(source, bytes) and (folder := Path(source).expanduser()).is_dir():
        modules = sorted(path.name for path in folder.glob("*.mlir"))
        if not modules:
            return ""
        example = shown_name(str(Path(folder.name) / modules[-1]))
        return (
            f"{shown_name(folder.name) or 'it'} holds {plural(len(modules), 'module')} of StableHLO, as JAX_DUMP_IR_TO "
            f"writes them; open one, for example {example}"
        )
    if head.startswith(b"{ lambda "):
        return (
            f"{shown_name(_file_name(source)) or 'it'} is the text of a jaxpr, which JAX does not read back; open the "
            "StableHLO beside it (.mlir), or give the function to inspect"
        )
    return ""

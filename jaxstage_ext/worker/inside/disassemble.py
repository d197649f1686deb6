"""Machine code as text: of CPUs through capstone or binutils' objdump, of GPUs through the CUDA toolkit."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jaxstage_ext.worker.inside import elf

_OBJDUMP_HEAD = re.compile(r"^(?:[0-9a-f]+ )?<([^>\n]+)>:$", re.MULTILINE)
_OBJDUMP_FILE = re.compile(r"^(\d+)\.o: +file format .*$", re.MULTILINE)
_RELOCATION = re.compile(r"\s*[0-9a-f]+:\s+R_\w++\s++(.*\S)")
_ROW = re.compile(r"\s*[0-9a-f]+:\s+(\S+)")
_JUMP = re.compile(r"^(?:j\w+|b|b\.\w+|cbn?z|tbn?z|loop\w*)$")
_ADDRESS = re.compile(r"#?0x([0-9a-f]+)$")


class Missing(RuntimeError):
    """A tool that is not installed, or that does not read this machine's code."""


def disassemble(objects: Mapping[str, bytes], disassembler: str | None) -> dict[str, dict[str, Any]]:
    """The functions of object files as text.

    Args:
      objects: by kernel, the deflated file that defines it.
      disassembler: "capstone" or "objdump"; with None code is measured but not read.

    Returns:
      By kernel: "bytes" of code, "machine", "count" of instructions, "text" ("bytes" and "count" None where not known).
    """
    files = {id(packed): zlib.decompress(packed) for packed in objects.values()}
    parsed = {key: elf.read(data) for key, data in files.items()}
    if disassembler is None:
        return {name: _measured(name, parsed[id(packed)]) for name, packed in objects.items()}
    dumped = {key: data for key, data in files.items() if disassembler == "objdump" or parsed[key] is None}
    dumps = _objdump(dumped) if dumped else {}
    return {name: _function(name, parsed[id(packed)], dumps.get(id(packed))) for name, packed in objects.items()}


def _measured(name: str, parsed: elf.Object | None) -> dict[str, Any]:
    function = parsed.function(name) if parsed else None
    code_bytes = len(function.code) if function else None
    return {"bytes": code_bytes, "machine": parsed.machine if parsed else "", "count": None}


def _function(name: str, parsed: elf.Object | None, dumped: dict[str, str] | None) -> dict[str, Any]:
    function, measured = parsed.function(name) if parsed else None, _measured(name, parsed)
    if dumped is not None:
        text = dumped.get(name, dumped.get(f"_{name}"))
    else:
        text = _capstone(function, measured["machine"]) if function else None
    if text is None:
        return {**measured, "error": "its object file does not hold it"}
    return {**measured, "text": text, "count": sum(map(_is_instruction, text.split("\n")))}


def _capstone(function: elf.Function, machine: str) -> str:
    """In Intel's syntax, jumps to labels, relocated operands named."""
    import capstone

    kinds = {
        "x86-64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "AArch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    }
    if machine not in kinds:
        raise Missing(f"{machine} code is not read here")
    reader = capstone.Cs(*kinds[machine])
    reader.skipdata = True
    return _listing(function, list(reader.disasm_lite(function.code, 0)))


def _listing(function: elf.Function, rows: list[tuple[int, int, str, str]]) -> str:
    starts = {at for at, _, _, _ in rows}
    targets = {target for _, _, name, what in rows if (target := _target(name, what)) in starts}
    lines = [f"{function.name}:"]
    for at, size, name, what in rows:
        if at in targets:
            lines.append(f".L{at:x}:")
        target = _target(name, what)
        if target in targets:
            what = _ADDRESS.sub(f".L{target:x}", what)
        called = next((f"  ; {symbol}" for place, symbol in function.calls.items() if at <= place < at + size), "")
        lines.append(f"  {at:6x}:  {name:<12} {what}{called}".rstrip())
    return "\n".join(lines)


def _target(name: str, what: str) -> int | None:
    address = _ADDRESS.search(what) if _JUMP.match(name) else None
    return int(address[1], 16) if address else None


def _objdump(files: Mapping[int, bytes]) -> dict[int, dict[str, str]]:
    """The functions of each file, by its key, as objdump prints them; one call for all."""
    objdump = shutil.which("objdump")
    if objdump is None:
        raise Missing("these object files are read with binutils' objdump, which is not installed here")
    with tempfile.TemporaryDirectory() as folder:
        for key, data in files.items():
            Path(folder, f"{key}.o").write_bytes(data)
        syntax = ["-M", "intel"] if platform.machine() in ("x86_64", "AMD64") else []
        names = [f"{key}.o" for key in files]
        text = output([objdump, "-d", "-r", "--no-show-raw-insn", *syntax, *names], folder=folder).replace("\t", " ")
    parts = _OBJDUMP_FILE.split(text)
    return {int(key): _functions(part) for key, part in zip(parts[1::2], parts[2::2], strict=True)}


def _functions(text: str) -> dict[str, str]:
    parts = _OBJDUMP_HEAD.split(text)
    return {name: _tidy(name, body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _tidy(name: str, body: str) -> str:
    """A function's rows, each relocation at the end of the instruction that it belongs to."""
    rows = [f"{name}:"]
    for line in body.split("\n"):
        if relocation := _RELOCATION.match(line):
            rows[-1] += f"  ; {relocation[1]}"
        elif _ROW.match(line):
            rows.append(line.rstrip())
    return "\n".join(rows)


def _is_instruction(row: str) -> bool:
    match = _ROW.match(row)
    return match is not None and not match[1].startswith((".byte", "(bad)"))


_NOP = 0x918
"""The opcode in the low twelve bits of an instruction, of NOP."""
_TARGET = re.compile(r"^\.target\s+(sm_\w+)", re.MULTILINE)


def assemble(texts: Mapping[str, bytes], ptxas: str) -> dict[str, dict[str, Any]]:
    """PTX through `ptxas -v`.

    Args:
      texts: by kernel, the deflated PTX that defines it.
      ptxas: the program.

    Returns:
      By kernel: "log", what ptxas says of it; "cubin", the deflated file; "bytes" of its code, "count" of its
      instructions; or "error".
    """
    parts = {id(packed): packed for packed in texts.values()}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        done = dict(zip(parts, pool.map(lambda packed: _ptxas(packed, ptxas), parts.values()), strict=True))
    return {name: _of_kernel(done[id(packed)], name) for name, packed in texts.items()}


def _ptxas(packed: bytes, ptxas: str) -> dict[str, Any]:
    text = zlib.decompress(packed)
    target = _TARGET.search(text.decode("utf-8", "replace"))
    if target is None:
        return {"error": "the PTX names no .target"}
    with temporary_file(text, ".ptx") as path:
        out = Path(path).with_suffix(".cubin")
        try:
            log = output([ptxas, "-v", "-lineinfo", f"-arch={target[1]}", path, "-o", str(out)], errors=True)
            return {"log": log, "cubin": out.read_bytes()}
        except (RuntimeError, OSError) as error:
            return {"error": str(error)}
        finally:
            out.unlink(missing_ok=True)


def _of_kernel(done: dict[str, Any], name: str) -> dict[str, Any]:
    if "error" in done:
        return done
    parsed = elf.read(done["cubin"])
    function = parsed.function(name) if parsed else None
    code = function.code if function else b""
    measured = {"bytes": len(code), "count": _sass_count(code)} if code else {"bytes": None, "count": None}
    return {"log": done["log"], "cubin": zlib.compress(done["cubin"], 1), **measured}


def _sass_count(code: bytes) -> int:
    """Instructions of 16 bytes (since Volta), without the NOPs that fill up the end."""
    words = [int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(0, len(code) - 15, 16)]
    while words and words[-1] == _NOP:
        words.pop()
    return len(words)


def sass(cubin: bytes, nvdisasm: str) -> str:
    """A deflated cubin as nvdisasm prints it, each instruction after the line of PTX that it came from."""
    with temporary_file(zlib.decompress(cubin), ".cubin") as path:
        return output([nvdisasm, "-c", "-gp", path])


_SECONDS = 120


@contextlib.contextmanager
def temporary_file(data: bytes, suffix: str) -> Iterator[str]:
    """The path of a file with these bytes, which is removed when the block ends."""
    handle, path = tempfile.mkstemp(suffix=suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)


def output(command: list[str], errors: bool = False, folder: str | None = None) -> str:
    """What a program printed; with `errors`, to its standard error. Raises RuntimeError with its last words."""
    done = subprocess.run(command, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, cwd=folder)
    printed = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        last = printed.strip()[-500:] or f"exit status {done.returncode}"
        raise RuntimeError(f"{Path(command[0]).name} failed: {last}")
    return printed if errors else done.stdout.decode("utf-8", "replace")

"""GPU machine code, through the assembler and disassembler of the CUDA toolkit."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jaxstage_ext.worker.inside import elf
from jaxstage_ext.worker.inside.programs import output, temporary_file

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

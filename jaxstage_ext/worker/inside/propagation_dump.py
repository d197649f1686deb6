"""Inside the worker: compile once more as far as the partitioner, and keep the module as the partitioner got it.

Its instructions have their shardings after propagation, and their source. Imports neither jax nor jaxlib.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jaxstage_ext.worker.inside import dump_room, whole_files
from jaxstage_ext.worker.inside.log import LogTail

FLAGS = {
    "xla_dump_hlo_pass_re": "^(shardy-xla|sharding-propagation|spmd-partitioning)$",
    "xla_dump_hlo_as_proto": True,
}
_MODULE = 1
"""The module's field in an HloProto."""
_POLL, _SOON = 0.02, 0.25
_BEFORE = re.compile(r"\.before_(?:shardy-xla|sharding-propagation)\.hlo\.pb$")
_AFTER = re.compile(r"\.after_(?:shardy-xla|sharding-propagation)\..{0,255}\.hlo\.pb$")
_PARTITIONED = re.compile(r"\.after_spmd-partitioning\..{0,255}\.hlo\.pb$")
_LATER = re.compile(r"HLO pass pipeline on module \S+: (?:xla-partitioner-optimizations|spatial-partitioner-cleanup)")
"""What a worker that recompiles logs once libtpu's partitioner, which dumps nothing afterwards, is done."""
_WARNING = re.compile(r"\[SPMD\] Involuntary full rematerialization.*")


def collect(compile_: Callable[[Mapping[str, Any]], Any], folder: Path, log: Path) -> dict[str, Any]:
    """{"before", "after": serialised HloModuleProto or None, "warnings": lines, "running": whether XLA is still at it}.

    Args:
      compile_: compiles with the XLA flags it is given.
      folder: where XLA dumps; is removed.
      log: of this process.

    What comes after the partitioner is not awaited, so where it is "running" the process is to be left.
    Raises DumpCut where what is dumped is not whole, with XLA perhaps still running; what `compile_` does where nothing
    was dumped before.
    """
    dump_room.check(folder)
    failed: list[Exception] = []

    def run() -> None:
        try:
            compile_({"xla_dump_to": str(folder), **FLAGS})
        except Exception as error:
            failed.append(error)

    tail = LogTail(log)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    size = -1
    try:
        while thread.is_alive():
            thread.join(_POLL)
            dump_room.check_free(folder)
            before, size = size, sum(path.stat().st_size for path in _dumps(folder, _PARTITIONED))
            if 0 < size == before or (_dumps(folder, _AFTER) and _LATER.search(tail.text())):
                thread.join(_SOON)
                break
        dump_room.check(folder, tail)
        result = {"before": _read(folder, _BEFORE), "after": _read(folder, _AFTER)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if failed and result["after"] is None:
        raise failed[0]
    return result | {"running": thread.is_alive(), "warnings": _WARNING.findall(tail.text())}


def _dumps(folder: Path, which: re.Pattern[str]) -> list[Path]:
    """Dumps of the first module alone: others are the compiler's own."""
    names = sorted(name for name in (os.listdir(folder) if folder.exists() else ()) if which.search(name))
    return [folder / name for name in names[:1]]


def _read(folder: Path, which: re.Pattern[str]) -> bytes | None:
    for path in _dumps(folder, which):
        return whole_files.check_proto(path.read_bytes(), path, _MODULE)
    return None

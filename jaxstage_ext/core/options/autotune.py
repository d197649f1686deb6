"""Autotune results: which kernels were fastest on a real GPU. XLA records them on a GPU, and can load them anywhere.

A result applies to the GPU and the instruction that it was recorded for. XLA writes both as text (AutotuneResults, JAX
0.10) or as fingerprints (AutotuneCache, JAX 0.12), so the file alone does not show whether a result applies. XLA's
log does, since it counts the lookups with a result. XLA loads a file once per process and keeps its results for all
later compiles, so each such compile runs in a process of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.ir.wire.proto_messages import STRING, Fields, build
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.units import plural

LOAD, SAVE = "xla_gpu_load_autotune_results_from", "xla_gpu_dump_autotune_results_to"
FILES = frozenset((LOAD, SAVE))
HOW: Mapping[str, Any] = {
    "lane": "one request",
    "variables": {
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_CPP_VMODULE": "config_assigner_pass=1,autotuner_pass=1,autotuner_cache_interface=1,autotuner_cache=2",
    },
}
"""How a worker is asked for a compile with results: alone, and with the log that the worker counts them in."""
_LARGEST = 256 << 20
_DNN = re.compile(r", DNN version: ([\d.]+)$")


class AutotuneError(DeliberateError, ValueError):
    """A file that cannot be read or written, or has no autotune results; the message is one line."""


@dataclass(frozen=True)
class Results:
    """A file of autotune results."""

    path: str
    """The file, as the user gave it."""
    data: bytes
    """Its bytes."""
    text: bool
    """Whether the bytes are a text proto."""
    devices: tuple[str, ...]
    """The GPU of each result, as XLA's description or its fingerprint."""
    spelled: bool
    """Whether `devices` are descriptions (AutotuneResults) or fingerprints (AutotuneCache)."""

    @property
    def for_worker(self) -> tuple[str, bytes]:
        """A file name that tells XLA whether the file is text or binary, and the bytes."""
        return f"autotune.{'txtpb' if self.text else 'pb'}", self.data

    @property
    def dnn_version(self) -> str:
        """The cuDNN version that all results were recorded with; empty where it is unknown or differs."""
        versions = {match[1] for device in self.devices if (match := _DNN.search(device))}
        return versions.pop() if len(versions) == 1 else ""


@dataclass(frozen=True)
class Tuned:
    """How many of a compile's autotuned choices a file of results decided."""

    results: Results
    decided: int
    """The number of choices that the results decided."""
    choices: int | None
    """The number of choices that XLA tunes; None where this XLA does not report it."""
    device: str | None
    """The target as the file would describe it."""

    @property
    def title(self) -> str:
        """What follows the target in a panel's header: "autotuned by h100.pb"."""
        name = Path(self.results.path).name
        if not self.decided:
            return "heuristic, not autotuned"
        return f"autotuned by {name}" if self.decided == self.choices else f"partly autotuned by {name}"

    @property
    def note(self) -> str:
        path, many = self.results.path, len(self.results.devices)
        if self.choices is None:
            return f"This XLA does not report whether it used the {_results(many)} of {path}."
        if self.decided:
            return f"The autotune results of {path} decided {self.decided:,} of the {_choices(self.choices)}."
        if not self.choices:
            return f"XLA autotunes nothing in this program, so the {_results(many)} of {path} had no effect."
        return f"None of the {_results(many)} of {path} applied to the {_choices(self.choices)}: {self._why}."

    @property
    def _why(self) -> str:
        if self.device is None or (" " in self.device) != self.results.spelled:
            age = "an older" if self.results.spelled else "a newer"
            return f"they are in the format of {age} JAX"
        if self.device in self.results.devices:
            return "they are for other instructions or other versions of the compiler's libraries"
        theirs = f" ({self.results.devices[0]}; the target is {self.device})" if self.results.spelled else ""
        return f"they were recorded on a different GPU{theirs}"


def tuned(results: Results, counts: Mapping[str, Any]) -> Tuned:
    """The Tuned of a compile with these results, from the "autotuned" of the worker's answer."""
    return Tuned(results, counts["hits"], counts["choices"], counts["device"])


def path(name: str, value: str) -> str:
    """The value of LOAD or SAVE as an absolute path. Raises AutotuneError for a file that cannot be read or written."""
    if not value:
        return value
    chosen = Path(value).expanduser().absolute()
    if name == LOAD:
        read(str(chosen))
    elif chosen.is_dir() or not chosen.parent.is_dir():
        why = "it is a directory" if chosen.is_dir() else f"there is no directory {str(chosen.parent)!r}"
        raise AutotuneError(f"autotune results cannot be saved to {value!r}: {why}")
    return str(chosen)


def read(path: str) -> Results:
    """The results in a file. Raises AutotuneError for a file that cannot be read or has none."""
    data = _bytes(Path(path))
    for text in (True, False):
        for spelled in (False, True):
            devices = _devices(data, text, spelled)
            if devices and all(devices):
                return Results(path, data, text, devices, spelled)
    raise AutotuneError(
        f"{path!r} is not a file of autotune results: neither XLA's AutotuneResults nor its AutotuneCache"
    )


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise AutotuneError(f"autotune results {str(path)!r} cannot be read: not a file")
        if path.stat().st_size > _LARGEST:
            raise AutotuneError(f"autotune results {str(path)!r} cannot be read: larger than {_LARGEST >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else (error.strerror or str(error)).lower()
        raise AutotuneError(f"autotune results {str(path)!r} cannot be read: {why}") from None


def _devices(data: bytes, text: bool, spelled: bool) -> tuple[str, ...]:
    kind = _kinds()[spelled]
    try:
        message = text_format.Parse(data.decode(), kind(), allow_unknown_field=True) if text else kind.FromString(data)
    except (UnicodeDecodeError, text_format.ParseError, DecodeError, RecursionError):
        return ()
    if spelled:
        return tuple(entry.device for entry in message.results)
    return tuple(entry.key.target.device for entry in message.entries)


_MESSAGES: dict[str, Fields] = {
    "Target": {"device": (1, STRING, False)},
    "Key": {"target": (1, "Target", False)},
    "Entry": {"key": (1, "Key", False)},
    "Result": {"device": (1, STRING, False)},
    "AutotuneCache": {"entries": (3, "Entry", True)},
    "AutotuneResults": {"results": (4, "Result", True)},
}


@cache
def _kinds() -> list[Any]:
    """The classes of AutotuneCache and AutotuneResults, with only the fields that are read here."""
    return build(_MESSAGES, "AutotuneCache", "AutotuneResults")


def unrecorded(path: str, target: Target) -> str:
    """The note on SAVE where XLA measured nothing."""
    where = "this kernel has none" if target.is_local else f"{target} is compiled without a device"
    return f"No autotune results were saved to {path}: XLA autotunes only on a GPU, and {where}."


def recorded(path: str) -> str:
    """The note on SAVE after a compile on a GPU."""
    try:
        return f"{path} has {_results(len(read(path).devices))}: all that XLA has autotuned in this kernel."
    except AutotuneError as error:
        return f"No autotune results were saved: {error}."


def _results(many: int) -> str:
    return plural(many, "result")


def _choices(many: int) -> str:
    return f"{plural(many, 'choice')} that XLA tunes"

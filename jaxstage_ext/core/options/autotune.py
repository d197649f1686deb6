"""Autotune results: which kernels a real GPU found fastest. XLA records them beside a GPU and loads them anywhere.

A result counts for the GPU and the instruction that it was recorded for. XLA writes both out as text (AutotuneResults:
JAX 0.10) or as fingerprints (AutotuneCache: JAX 0.12), so that the file alone does not tell whether it applies. XLA's
own log does: it counts the look-ups that found a result. It loads a file once a process and keeps what it holds for
every later compile, so that each such compile gets a process of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.report.units import plural

LOAD, SAVE = "xla_gpu_load_autotune_results_from", "xla_gpu_dump_autotune_results_to"
HOW: Mapping[str, Any] = {
    "lane": "one request",
    "environment": {
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_CPP_VMODULE": "config_assigner_pass=1,autotuner_pass=1,autotuner_cache_interface=1,autotuner_cache=2",
    },
}
"""How a worker is asked for a compile with results: alone, and with the log that the worker counts them in."""
_LARGEST = 256 << 20
_DNN = re.compile(r", DNN version: ([\d.]+)$")


class AutotuneError(ValueError):
    """A file that cannot be read, cannot be written or holds no autotune results; its text is one line."""


@dataclass(frozen=True)
class Results:
    """A file of autotune results.

    Attributes:
      path: as it was given.   data: its bytes.   text: whether they are a text proto.
      devices: for each result, the GPU that it was recorded on, in XLA's words or as XLA's fingerprint of them.
      spelled: whether they are words (AutotuneResults) or fingerprints (AutotuneCache).
    """

    path: str
    data: bytes
    text: bool
    devices: tuple[str, ...]
    spelled: bool

    @property
    def for_worker(self) -> tuple[str, bytes]:
        """The name by which XLA takes a file for text or binary, and the bytes."""
        return f"autotune.{'txtpb' if self.text else 'pb'}", self.data

    @property
    def dnn_version(self) -> str:
        """The cuDNN version that all results were recorded with; empty where they do not say, or say several."""
        found = {match[1] for device in self.devices if (match := _DNN.search(device))}
        return found.pop() if len(found) == 1 else ""


@dataclass(frozen=True)
class Tuned:
    """What became of a file of results in a compile: of so many choices that XLA tunes, how many it decided.

    `device` is the target in the file's words. `choices` is None where this XLA does not tell.
    """

    results: Results
    decided: int
    choices: int | None
    device: str | None

    @property
    def title(self) -> str:
        """For the line that names the target: "autotuned by h100.pb"."""
        name = Path(self.results.path).name
        if not self.decided:
            return "heuristic, not autotuned"
        return f"autotuned by {name}" if self.decided == self.choices else f"partly autotuned by {name}"

    @property
    def note(self) -> str:
        path, many = self.results.path, len(self.results.devices)
        if self.choices is None:
            return f"This XLA does not tell whether the {_results(many)} of {path} took part."
        if self.decided:
            return f"Autotune results of {path} decided {self.decided:,} of the {_choices(self.choices)}."
        if not self.choices:
            return f"The program has nothing that XLA autotunes, so the {_results(many)} of {path} took no part."
        return f"None of the {_results(many)} of {path} took part in the {_choices(self.choices)}: {self._why}."

    @property
    def _why(self) -> str:
        if self.device is None or (" " in self.device) != self.results.spelled:
            age = "an older" if self.results.spelled else "a newer"
            return f"they are in the form of {age} JAX"
        if self.device in self.results.devices:
            return "they are for other instructions or other versions of the compiler's libraries"
        theirs = f" ({self.results.devices[0]}; here it is {self.device})" if self.results.spelled else ""
        return f"XLA takes this GPU for another than the one they were recorded on{theirs}"


def tuned(results: Results, told: Mapping[str, Any]) -> Tuned:
    """What a worker's "autotuned" tells of a compile with these results."""
    return Tuned(results, told["hits"], told["choices"], told["device"])


def path(name: str, value: str) -> str:
    """The value of LOAD or SAVE as an absolute path. Raises AutotuneError for what cannot be read or written."""
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
    """The results in a file. Raises AutotuneError, in one line, for one that cannot be read or holds none."""
    data = _bytes(Path(path))
    for text in (True, False):
        for spelled in (False, True):
            devices = _devices(data, text, spelled)
            if devices and all(devices):
                return Results(path, data, text, devices, spelled)
    raise AutotuneError(f"{path!r} holds no autotune results, neither as AutotuneResults nor as AutotuneCache of XLA")


def _bytes(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise AutotuneError(f"autotune results {str(path)!r} cannot be read: it is no file")
        if path.stat().st_size > _LARGEST:
            raise AutotuneError(f"autotune results {str(path)!r} cannot be read: over {_LARGEST >> 20} MiB")
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


@cache
def _kinds() -> dict[bool, Any]:
    """AutotuneCache and AutotuneResults, by whether devices are spelled out; only the fields that are read here."""
    file = descriptor_pb2.FileDescriptorProto(name="jaxstage/autotune.proto", package="jaxstage", syntax="proto3")
    _message(file, "Target", device=1)
    _message(file, "Key", target=(1, "Target"))
    _message(file, "Entry", key=(1, "Key"))
    _message(file, "Result", device=1)
    _message(file, "AutotuneCache", entries=(3, "Entry", True))
    _message(file, "AutotuneResults", results=(4, "Result", True))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = {False: "AutotuneCache", True: "AutotuneResults"}
    return {
        spelled: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"jaxstage.{name}"))
        for spelled, name in names.items()
    }


def _message(file: Any, name: str, **fields: Any) -> None:
    """Add a message whose fields are a number, for text, or (number, message, repeated)."""
    message = file.message_type.add(name=name)
    for field, what in fields.items():
        if isinstance(what, int):
            message.field.add(name=field, number=what, type=9, label=1)
        else:
            message.field.add(
                name=field, number=what[0], type=11, type_name=f".jaxstage.{what[1]}", label=3 if what[2:] else 1
            )


def unrecorded(path: str, target: Target) -> str:
    """The note on SAVE where nothing was measured."""
    where = "there is no GPU here" if target.is_local else f"{target} is compiled without a device"
    return f"Nothing was recorded in {path}: XLA autotunes on a GPU that it can run on, and {where}."


def recorded(path: str) -> str:
    """The note on SAVE after a compile beside a GPU."""
    try:
        return f"{path} holds {_results(len(read(path).devices))}, all that XLA has tuned in this kernel."
    except AutotuneError as error:
        return f"No autotune results were recorded: {error}."


def _results(many: int) -> str:
    return plural(many, "result")


def _choices(many: int) -> str:
    return f"{plural(many, 'choice')} that XLA tunes"

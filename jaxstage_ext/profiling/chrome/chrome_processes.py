"""The processes and threads of a Chrome trace, as their metadata names them."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from jaxstage_ext.profiling.chrome.chrome_columns import RawEvents, ordinal
from jaxstage_ext.profiling.chrome.chrome_text import Json
from jaxstage_ext.report.recording import NONE

_PLATFORM = re.compile(r"/device:([A-Za-z]{1,20}):(\d{1,9})|(GPU|TPU) (\d{1,9})$")
_LABEL = re.compile(r"(?!(?:CPU|RANK|HOST|NODE|STEP|TASK|THREAD|WORKER) )([A-Z][A-Z\d]{1,20}|PrivateUse\d) (\d{1,9})")
"""What PyTorch labels the process of an accelerator with, whatever its kind, in capitals: "MTIA 17", "XPU 0"."""
_LONGEST = 200


@dataclass
class Process:
    """A process: a device, or a host."""

    name: str = ""
    platform: str = ""
    """"GPU", "TPU"; "" for a host."""
    device: int = NONE
    """Its ordinal; NONE for a host."""
    model: str = ""
    """Of the device."""
    threads: dict[Hashable, str] = field(default_factory=dict)
    """Names, by thread id."""

    @property
    def group(self) -> str:
        """What its lanes stand under."""
        if self.platform:
            return f"{self.platform} {self.device}" + (f" ({self.model})" if self.model else "")
        return self.name or "host"


def processes_of(raw: RawEvents) -> dict[Hashable, Process]:
    """The processes, by pid, with a name each that no other has."""
    processes: dict[Hashable, Process] = {key[2]: Process() for key in raw.keys}
    for row, phase, args in raw.special:
        if phase == "M":
            _, _, pid, tid = raw.keys[int(raw.key[row])]
            _name(processes[pid], tid, raw.names[int(raw.name[row])], args)
    models = _models(raw.head)
    hosts = [pid for pid, process in processes.items() if not process.platform]
    numbered = [pid for pid in hosts if _is_process(pid)]
    for pid, process in processes.items():
        if process.platform and process.platform != "TPU":
            process.model = models.get(process.device, "")
        elif not process.platform:
            process.name = _host_name(process, pid, len(numbered) > 1)
    return processes


def _name(process: Process, tid: Hashable, name: str, args: Json) -> None:
    text = next((value for value in (args.get("name"), args.get("labels")) if type(value) is str), None)
    if text is None:
        return
    text = text.strip()[:_LONGEST]
    if name == "thread_name":
        process.threads[tid] = text
    elif name in ("process_name", "process_labels"):
        if match := _PLATFORM.match(text):
            process.platform, process.device = match[1] or match[3], int(match[2] or match[4])
        elif name == "process_labels" and (match := _LABEL.fullmatch(text)):
            process.platform, process.device = match[1], int(match[2])
        elif name == "process_name":
            process.name = text


def _host_name(process: Process, pid: Hashable, several: bool) -> str:
    if not _is_process(pid):
        return "profiler"
    if not several:
        return "host"
    name = process.name.removeprefix("/host:")
    return f"host {name} ({pid})" if name else f"host {pid}"


def _is_process(pid: Hashable) -> bool:
    """Whether it is the number of a process; PyTorch gives its own marks other ids."""
    return type(pid) is int and pid >= 0


def _models(head: Json) -> dict[int, str]:
    """The models of the devices that PyTorch lists."""
    listed: Any = head.get("deviceProperties")
    found = [device for device in listed if type(device) is dict] if type(listed) is list else []
    return {ordinal(d.get("id")): d["name"][:_LONGEST] for d in found if type(d.get("name")) is str}


def device_facts(head: Json, processes: dict[Hashable, Process]) -> dict[str, Json]:
    """What the trace says of its devices, by group."""
    listed: Any = head.get("deviceProperties")
    by_number = {ordinal(d.get("id")): d for d in listed if type(d) is dict} if type(listed) is list else {}
    groups = {process.group: process.device for process in processes.values() if process.platform}
    return {group: dict(by_number[device]) for group, device in groups.items() if device in by_number}

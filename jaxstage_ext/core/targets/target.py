"""Compilation targets: `local`, `cpu:8`, `v5e`, `v5e:4x4`, `h100:8`. Parsing one imports and starts nothing."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jaxstage_ext.core.targets.catalogue import CATALOGUE
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.units import plural

_NAME = re.compile(r"([a-z][a-z0-9-]*)(?::([0-9]+(?:x[0-9]+)*))?")
MOST_CPUS = 4096
"""Virtual CPU devices that a target may have."""
MOST_GPUS = 4096


class TargetError(DeliberateError, ValueError):
    """An unknown or invalid target, or one that needs a package that is missing; the message is one line."""


@dataclass(frozen=True)
class Target:
    """The devices to compile for."""

    name: str
    """As the user writes it: "local", "cpu:8", "v5e:4x4", "h100:2x8"."""
    platform: str = ""
    """The platform that JAX lowers for: "cpu", "tpu" or "cuda"; "" for local, the kernel's own platform."""
    kind: str = ""
    """The device's key in `devices.CATALOGUE`; "" for CPUs."""
    topology: str = ""
    """The topology name that the compiler's plugin takes; "" for CPUs."""
    chips: int | None = None
    """The number of chips, each of which may be several JAX devices; None for local."""

    @property
    def is_local(self) -> bool:
        return not self.platform

    def __str__(self) -> str:
        return self.name

    @property
    def devices(self) -> int | None:
        """The number of JAX devices; None for local."""
        per_chip = _TPUS[self.kind].devices_per_chip if self.platform == "tpu" else 1
        return None if self.chips is None else self.chips * per_chip

    @property
    def configuration(self) -> str:
        """How libtpu is to make devices of a chip's cores; "" for its default, and for what is not a TPU."""
        return _TPUS[self.kind].configuration if self.platform == "tpu" and self.kind in _TPUS else ""

    @property
    def size(self) -> str:
        """The size in words: "4 devices", "16 chips", "8 GPUs"; empty for local."""
        return plural(self.chips, _PARTS[self.platform]) if self.chips is not None else ""

    def size_used(self, devices: int) -> str:
        """The size where a program runs on this many devices: "1 of 8 GPUs used", or `size` where that is all."""
        if self.devices is None or devices >= self.devices:
            return self.size
        part = _PARTS[self.platform] if self.devices == self.chips else "device"
        return f"{devices:,} of {plural(self.devices, part)} used"


LOCAL = Target("local")
_PARTS = {"cpu": "device", "tpu": "chip", "cuda": "GPU"}


_TPUS = {name: device.tpu for name, device in CATALOGUE.items() if device.tpu}
TPUS = {name: tpu.example for name, tpu in _TPUS.items()}
"""TPU generations, each with the smallest topology that fills a host."""
LARGEST_POD = {name: tpu.most for name, tpu in _TPUS.items()}
"""The number of chips in the largest topology of each TPU generation."""
GPUS = {name: device.gpu.name for name, device in CATALOGUE.items() if device.gpu}
"""GPUs, each with its name in JAX's CUDA plugin."""
_NAMES = ("local", "cpu", *_TPUS, *GPUS)
_ALSO = {"v5litepod": "v5e", "v5lite": "v5e", "v7x": "tpu7x", "v7": "tpu7x", "tpu7": "tpu7x", "ironwood": "tpu7x"}
_NEVER = {
    "v100": "CUDA 13 compiles for compute capability 7.5 and later",
    "p100": "CUDA 13 compiles for compute capability 7.5 and later",
    **dict.fromkeys(("mi250", "mi300x", "mi300", "mi350", "mi355x"), "XLA's CUDA plugin crashes on AMD GPUs"),
}


def parse(text: str) -> Target:
    """The Target of a name. Raises TargetError, in one line, for an unknown or invalid target."""
    if not isinstance(text, str):
        raise TargetError(f"a target must be text such as 'v5e:4x4', not {text!r}")
    match = _NAME.fullmatch(text.strip().lower().replace("_", "-"))
    if match is None:
        raise TargetError(f"{text!r} is not a target; write local, cpu:8, v5e:4x4 or h100:8")
    name, sizes = match[1], tuple(map(int, match[2].split("x"))) if match[2] else ()
    if 0 in sizes:
        raise TargetError(f"{text!r} has a size of zero")
    if name == "local":
        if sizes:
            raise TargetError(f"{text!r}: local has no size; for that many virtual CPU devices, use cpu:{match[2]}")
        return LOCAL
    if name == "cpu":
        return _cpu(sizes)
    if name in _TPUS:
        return _tpu(name, sizes)
    if name in GPUS:
        return _gpu(name, sizes)
    raise TargetError(_unknown(text, name))


def parse_all(given: str | Target | Iterable[str | Target]) -> tuple[Target, ...]:
    """The Targets of one or several names, without duplicates. Raises TargetError."""
    several = [given] if isinstance(given, str | Target) else list(() if given is None else given)
    if not several:
        raise TargetError(f"target={given!r} names no target; leave it out to compile for this kernel's own devices")
    return tuple(dict.fromkeys(target if isinstance(target, Target) else parse(target) for target in several))


def _cpu(sizes: tuple[int, ...]) -> Target:
    if len(sizes) > 1 or math.prod(sizes) > MOST_CPUS:
        raise TargetError(f"cpu takes a number of devices from 1 to {MOST_CPUS:,}, as in cpu:8, not {_times(sizes)}")
    count = sizes[0] if sizes else 1
    return Target(f"cpu:{count}", "cpu", chips=count)


def _tpu(name: str, sizes: tuple[int, ...]) -> Target:
    """`v5e` is one chip, as `h100` is one GPU; `v5e:4x4` a slice."""
    tpu = _TPUS[name]
    if not sizes:
        return Target(name, "tpu", name, f"{name}:{_times((1,) * tpu.axes)}", 1)
    if len(sizes) != tpu.axes:
        raise TargetError(f"{name} topologies have {tpu.axes} axes, as in {tpu.example}, not {_times(sizes)}")
    chips = math.prod(sizes)
    if chips > tpu.most:
        raise TargetError(f"{name}:{_times(sizes)} has {chips:,} chips; a {name} pod has at most {tpu.most:,}")
    topology = f"{name}:{_times(sizes)}"
    return Target(topology, "tpu", name, topology, chips)


def _gpu(name: str, sizes: tuple[int, ...]) -> Target:
    """`h100:8` is a host with 8 GPUs, `h100:2x8` two such hosts. The plugin takes slices x hosts x GPUs per host."""
    count = math.prod(sizes)
    if len(sizes) > 2 or count > MOST_GPUS:
        raise TargetError(
            f"{name} takes a number of GPUs ({name}:8) or hosts x GPUs per host ({name}:2x8), at most {MOST_GPUS:,}, "
            f"not {_times(sizes)}"
        )
    hosts, per_host = sizes if len(sizes) == 2 else (1, count)
    suffix = f":{_times(sizes)}" if count > 1 else ""
    return Target(f"{name}{suffix}", "cuda", name, f"1x{hosts}x{per_host}", count)


def _unknown(text: str, name: str) -> str:
    if name in _NEVER:
        return f"{text!r} is not supported: {_NEVER[name]}"
    near = [_ALSO[name]] if name in _ALSO else difflib.get_close_matches(name, _NAMES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the targets are {', '.join(_NAMES)}"
    return f"unknown target {text!r}; {hint}"


def _times(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))

"""What to compile for: `local`, `cpu:8`, `v5e:4x4`, `h100:8`, parsed and described. Nothing is imported or started."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jaxstage_ext.report.units import plural

_NAME = re.compile(r"([a-z][a-z0-9-]*)(?::([0-9]+(?:x[0-9]+)*))?")
MOST_CPUS = 4096
"""Virtual CPU devices that a target may have."""
MOST_GPUS = 4096


class TargetError(ValueError):
    """A target that does not exist, cannot be, or lacks a package; its text is one line."""


@dataclass(frozen=True)
class Target:
    """One thing to compile for.

    Attributes:
      name: as the user writes it: "local", "cpu:8", "v5e:4x4", "h100:2x8".
      platform: what JAX lowers for: "cpu", "tpu" or "cuda"; "" for local, which is whatever the kernel has.
      kind: the entry of `devices.CATALOGUE`; "" for CPUs.
      topology: what the compiler's plugin takes; "" for CPUs.
      chips: how many chips; a chip may be several of JAX's devices. None for local.
    """

    name: str
    platform: str = ""
    kind: str = ""
    topology: str = ""
    chips: int | None = None

    @property
    def is_local(self) -> bool:
        return not self.platform

    def __str__(self) -> str:
        return self.name

    @property
    def devices(self) -> int | None:
        """How many devices JAX sees there; None for local."""
        per_chip = _TPUS[self.kind].devices_per_chip if self.platform == "tpu" else 1
        return None if self.chips is None else self.chips * per_chip

    @property
    def size(self) -> str:
        """How many: "4 devices", "16 chips", "8 GPUs"; empty for local."""
        what = {"cpu": "device", "tpu": "chip", "cuda": "GPU"}
        return plural(self.chips, what[self.platform]) if self.chips is not None else ""


LOCAL = Target("local")


@dataclass(frozen=True)
class _Tpu:
    """A TPU generation: axes of its topologies, most chips of one slice, JAX devices a chip, an example.

    Pod sizes: Google Cloud TPU documentation, system architecture pages of each version.
    """

    axes: int
    most: int
    devices_per_chip: int
    example: str


_TPUS = {
    "v2": _Tpu(2, 256, 2, "v2:2x2"),
    "v3": _Tpu(2, 1024, 2, "v3:2x2"),
    "v4": _Tpu(3, 4096, 2, "v4:2x2x1"),
    "v5e": _Tpu(2, 256, 1, "v5e:2x2"),
    "v5p": _Tpu(3, 8960, 1, "v5p:2x2x1"),
    "v6e": _Tpu(2, 256, 1, "v6e:2x2"),
    "tpu7x": _Tpu(3, 9216, 2, "tpu7x:2x2x1"),
}
TPUS = {name: tpu.example for name, tpu in _TPUS.items()}
"""TPU generations, each with its smallest topology that fills a host."""
LARGEST_POD = {name: tpu.most for name, tpu in _TPUS.items()}
"""Chips of the largest topology of a TPU generation."""
GPUS = {
    "a100": "NVIDIA A100-SXM4-80GB",
    "h100": "NVIDIA H100 80GB HBM3",
    "h200": "NVIDIA H200 141GB HBM3e",
    "b200": "NVIDIA B200",
    "b300": "NVIDIA B300",
    "gb300": "NVIDIA GB300",
    "rtx-pro-6000": "NVIDIA RTX PRO 6000 Blackwell",
}
"""GPUs, each with the name under which JAX's CUDA plugin describes it."""
_NAMES = ("local", "cpu", *_TPUS, *GPUS)
_ALSO = {"v5litepod": "v5e", "v5lite": "v5e", "v7x": "tpu7x", "v7": "tpu7x", "tpu7": "tpu7x", "ironwood": "tpu7x"}
_NEVER = {
    "v100": "CUDA 13 compiles for compute capability 7.5 and later",
    "p100": "CUDA 13 compiles for compute capability 7.5 and later",
    **dict.fromkeys(("mi250", "mi300x", "mi300", "mi350", "mi355x"), "XLA's CUDA plugin crashes on AMD GPUs"),
}


def parse(text: str) -> Target:
    """The Target of a name. Raises TargetError, in one line, for one that does not exist or cannot be."""
    if not isinstance(text, str):
        raise TargetError(f"a target is text such as 'v5e:4x4', not {text!r}")
    match = _NAME.fullmatch(text.strip().lower().replace("_", "-"))
    if match is None:
        raise TargetError(f"{text!r} is not a target; write local, cpu:8, v5e:4x4 or h100:8")
    name, sizes = match[1], tuple(map(int, match[2].split("x"))) if match[2] else ()
    if 0 in sizes:
        raise TargetError(f"{text!r} has a size of zero")
    if name == "local":
        if sizes:
            raise TargetError(f"{text!r}: local takes no size; cpu:{match[2]} is that many virtual CPU devices")
        return LOCAL
    if name == "cpu":
        return _cpu(sizes)
    if name in _TPUS:
        return _tpu(name, sizes)
    if name in GPUS:
        return _gpu(name, sizes)
    raise TargetError(_unknown(text, name))


def parse_all(given: str | Target | Iterable[str | Target]) -> tuple[Target, ...]:
    """The Targets of one name or several; the same one twice counts once. Raises TargetError."""
    several = [given] if isinstance(given, str | Target) else list(given)
    if not several:
        raise TargetError("target=[] names no target; leave it out for this kernel's own device")
    return tuple(dict.fromkeys(one if isinstance(one, Target) else parse(one) for one in several))


def _cpu(sizes: tuple[int, ...]) -> Target:
    if len(sizes) > 1 or math.prod(sizes) > MOST_CPUS:
        raise TargetError(f"cpu takes one number from 1 to {MOST_CPUS:,}, as in cpu:8, not {_times(sizes)}")
    count = sizes[0] if sizes else 1
    return Target(f"cpu:{count}", "cpu", chips=count)


def _tpu(name: str, sizes: tuple[int, ...]) -> Target:
    tpu = _TPUS[name]
    if not sizes:
        raise TargetError(f"{name} needs a topology, as in {tpu.example}")
    if len(sizes) != tpu.axes:
        raise TargetError(f"{name} topologies have {tpu.axes} axes, as in {tpu.example}, not {_times(sizes)}")
    chips = math.prod(sizes)
    if chips > tpu.most:
        raise TargetError(f"{name}:{_times(sizes)} has {chips:,} chips; a {name} pod has at most {tpu.most:,}")
    topology = f"{name}:{_times(sizes)}"
    return Target(topology, "tpu", name, topology, chips)


def _gpu(name: str, sizes: tuple[int, ...]) -> Target:
    """`h100:8` is one host with eight, `h100:2x8` two hosts; the plugin takes slices x hosts x GPUs of a host."""
    count = math.prod(sizes)
    if len(sizes) > 2 or count > MOST_GPUS:
        raise TargetError(
            f"{name} takes a count ({name}:8) or hosts x GPUs of a host ({name}:2x8), at most {MOST_GPUS:,} in all, "
            f"not {_times(sizes)}"
        )
    hosts, each = sizes if len(sizes) == 2 else (1, count)
    suffix = f":{_times(sizes)}" if count > 1 else ""
    return Target(f"{name}{suffix}", "cuda", name, f"1x{hosts}x{each}", count)


def _unknown(text: str, name: str) -> str:
    if name in _NEVER:
        return f"{text!r} cannot be compiled for here: {_NEVER[name]}"
    near = [_ALSO[name]] if name in _ALSO else difflib.get_close_matches(name, _NAMES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_NAMES)}"
    return f"unknown target {text!r}; {hint}"


def _times(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))

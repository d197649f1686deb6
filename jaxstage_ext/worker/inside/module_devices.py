"""On how many devices a module runs, as it says itself, or else as its shardings and collectives say."""

from __future__ import annotations

import re
from math import prod
from typing import Any, NamedTuple

from jaxstage_ext.worker.inside import module_values

_MESH = re.compile(r"\bmesh\[((?:'[^']*'=\d+(?:, ?)?)*)\]|\bmesh(?: @[^=\n]{1,200}= )?<\[([^\[\]\n]*+)\]")
_SIZE = re.compile(r"""['"]\s*=\s*(\d+)""")
_TILES = re.compile(r"\bdevices=\[([\d,]+)\]")
_SERIALISED = re.compile(r'mhlo\.sharding = "[^{]')
_MAXIMAL = re.compile(r"\bmaximal device=(\d+)")
_GROUPS = re.compile(
    r"\breplica_groups ?= ?(?:\{(\{[\d, {}]*\})\}|\[[\d,]+\]<=\[([\d,]+)\]"
    r"|dense<\[?(\[[\d,\s\[\]]*\])\]?>|dense<(\d+)>)"
    r"(?P<rest>[^\n]*)"
)
_PAIRS = re.compile(r"\bsource_target_pairs ?= ?(?:\{(\{[\d, {}]*\})\}|dense<(\[[\d,\s\[\]]*\])>)(?P<rest>[^\n]*)")
_CHANNEL = re.compile(r"channel_id ?= ?[1-9]|channel_handle ?= ?#stablehlo.channel_handle<handle ?= ?[1-9]")
_HEAD = {"partitions": re.compile(r"\bnum_partitions=(\d+)"), "replicas": re.compile(r"\breplica_count=(\d+)")}


_CALL = re.compile(r'custom_call(?: @|.{0,200}?call_target_name = ")([\w.$-]+)')
_OF_PLATFORM = {
    "tpu": re.compile(r"tpu_|Lu(Decomposition)?$|Qr(Decomposition)?$|Eigh$|ApproxTopK$"),
    "cuda": re.compile(r"cu(solver|blas|dnn|fft|sparse|da|_|[A-Z])|triton|mosaic_gpu|__gpu\$|__cu|xla\.gpu"),
    "rocm": re.compile(r"hip|roc"),
    "cpu": re.compile(r"lapack_|blas_|ducc|__onednn|__ynn|cpu_"),
}
"""How the names of the custom calls begin that JAX's and XLA's libraries for a platform have."""


def platform_of(shown: str) -> str:
    """The platform whose libraries alone a module of StableHLO calls; "" where it calls none, or of several."""
    names = set(_CALL.findall(shown))
    found = [platform for platform, names_of in _OF_PLATFORM.items() if any(map(names_of.match, names))]
    return found[0] if len(found) == 1 else ""


class DeviceCounts(NamedTuple):
    """How many replicas of a program run, and on how many devices each."""

    partitions: int
    replicas: int

    @property
    def devices(self) -> int:
        return self.partitions * self.replicas


def of_hlo(text: str, partitions: int = 0) -> DeviceCounts:
    """Of HLO, by its text and what its proto says."""
    head = text.partition("\n")[0]
    said = {name: int(found[1]) if (found := each.search(head)) else 0 for name, each in _HEAD.items()}
    return _counts(partitions or said["partitions"], said["replicas"], text)


def of_stablehlo(module: Any, text: str) -> DeviceCounts:
    """Of StableHLO, and its text without large constants."""
    if _SERIALISED.search(text):
        text += "\n".join(_serialised(module))
    return _counts(_number(module, "mhlo.num_partitions"), _number(module, "mhlo.num_replicas"), text)


def _serialised(module: Any) -> set[str]:
    """The shardings of the arguments, results and operations of a module that has them serialised, as text."""
    from jaxlib.mlir import ir

    found: set[str] = set()

    def visit(operation: Any) -> Any:
        attributes = operation.attributes
        lists = [attributes[name] for name in ("arg_attrs", "res_attrs") if name in attributes]
        for each in (attributes, *(one for some in lists for one in some)):
            if "mhlo.sharding" in each:
                found.add(module_values.spelled(each["mhlo.sharding"]))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _number(module: Any, name: str) -> int:
    from jaxlib.mlir import ir

    attributes = module.operation.attributes
    return int(ir.IntegerAttr(attributes[name]).value) if name in attributes else 0


def _counts(partitions: int, replicas: int, text: str) -> DeviceCounts:
    if partitions > 1 or replicas > 1:
        return DeviceCounts(max(partitions, 1), max(replicas, 1))
    meshes = (prod(map(int, _SIZE.findall(axes or other))) for axes, other in set(_MESH.findall(text)))
    tiles = (prod(map(int, tile.split(","))) for tile in set(_TILES.findall(text)))
    maximal = (int(device) + 1 for device in set(_MAXIMAL.findall(text)))
    sharded = max((*meshes, *tiles, *maximal), default=1)
    groups = [(_members(match), _CHANNEL.search(match["rest"])) for match in _GROUPS.finditer(text)]
    groups += [(_members(match), _CHANNEL.search(match["rest"])) for match in _PAIRS.finditer(text)]
    across = [count for count, channel in groups if channel]
    between = [count for count, channel in groups if not channel]
    devices = max(sharded, *across, 1)
    return DeviceCounts(devices, max(*between, 1, 1) if devices == 1 else 1)


def _members(match: re.Match[str]) -> int:
    """As many devices as a collective's groups name."""
    whole = next(filter(None, match.groups()[:-1]), "")
    if match.re is _GROUPS and match[2]:
        return prod(map(int, match[2].split(",")))
    return max(map(int, re.findall(r"\d+", whole)), default=0) + 1

"""Shardings as compilers write them: HLO's two spellings, and Shardy's in MLIR.

Grammars: HloSharding::ToString, NamedSharding::ToString and the HLO parser (xla/hlo/ir, xla/hlo/parser) in openxla/xla;
docs/sharding_representation.md of openxla/shardy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

import numpy as np

from jaxstage_ext.analysis.sharding.mesh import Axis, BadSharding, Mesh, check_number
from jaxstage_ext.analysis.sharding.slices import (
    MANUAL,
    REPLICATED,
    UNREDUCED,
    Sharding,
    on_mesh,
    on_one_device,
    replicated,
    shared_by_all,
    tiled,
    unknown,
)
from jaxstage_ext.ir.wire.protowire import Longs

_GROUP = re.compile(r" ?shard_(?:as|like) \d+| ?metadata=\{(?:(?!metadata=\{).)*\}$")
_TILED = re.compile(
    r"devices=\[(?P<dims>[\d,]+)\](?:<=\[(?P<iota>[\d,]+)\](?:T\((?P<perm>[\d,]+)\))?|(?P<list>[\d,]+))"
    r"(?P<last> last_tile_dim_replicate)?(?: last_tile_dims=\{(?P<kinds>[\w, ]+)\})?"
)
_MESH = re.compile(
    r"mesh\[(?P<axes>(?:'[^']*'=\d+(?:, ?)?)*)\]"
    r"(?:, device_ids=\((?:\[(?P<reshape>[\d,]+)\]T\((?P<perm>[\d,]+)\)|(?P<list>[\d,]+))\))?,? ?"
)
_SHARDY = re.compile(r'(?:#sdy\.sharding)?<(?:@(?P<name>[\w.$-]+|"[^"]*")|mesh<(?P<mesh>.*?\])>), ?(?P<body>\[.*)>')
_SHARDY_MESH = re.compile(r"<?\[(?P<axes>[^\]]*)\](?:, device_ids=\[(?P<list>[\d, ]*)\])?>?")
_DEFINED = re.compile(r'sdy\.mesh @(?P<name>[\w.$-]+|"[^"]*") = (?P<mesh><\[[^\[\]]*\](?:, device_ids=\[[^\[\]]*\])?>)')
_DIMENSION = re.compile(r"\{([^{}]*)\}(?:p\d+)?")
_AXIS = re.compile(
    r"""(?P<quote>["'])(?P<name>(?:(?!(?P=quote)).)*+)(?P=quote)(?::\((?P<before>\d+)\)(?P<size>\d+))?"""
)
_AXIS_SIZE = re.compile(r"""(?P<quote>["'])(?P<name>(?:(?!(?P=quote)).)*+)(?P=quote) ?= ?(?P<size>\d+)""")
_WORDS = {"manual": MANUAL, "unreduced": UNREDUCED, "replicated": REPLICATED}


def hlo(text: str, rank: int, devices: int) -> Sharding:
    """One sharding as HLO prints it: `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`, `{mesh['x'=4], [{'x'}, {}]}`.

    `rank` is the value's and `devices` is the number of the program's devices, for spellings that do not say.
    """
    body = _GROUP.sub("", text.strip().removeprefix("{").removesuffix("}")).strip()
    try:
        if body in _WORDS:
            return shared_by_all(_WORDS[body], devices, rank, text)
        if body == "unknown":
            return unknown(text, "the compiler has not decided it")
        if maximal := re.fullmatch(r"maximal device=(\d+)", body):
            return on_one_device(int(maximal[1]), rank, text)
        if match := _TILED.fullmatch(body):
            return _tiled(match, text)
        if match := _MESH.match(body):
            return _on_mesh(_mesh(match), body[match.end() :], rank, text, devices)
    except (BadSharding, ValueError) as problem:
        return unknown(text, str(problem))
    return unknown(text, "an unknown spelling")


def hlo_tuple(text: str) -> list[str]:
    """The parts of a tuple's sharding, `{{replicated}, {devices=...}}`; any other sharding alone."""
    inner = text.strip()[1:-1].strip()
    return list(_braces(inner)) if inner.startswith("{") else [text]


def shardy(text: str, meshes: Mapping[str, Mesh], rank: int = 0) -> Sharding:
    """One sharding as Shardy prints it: `#sdy.sharding<@mesh, [{"x"}, {?}], unreduced={"y"}>`.

    `meshes` are the meshes that the module defines; a sharding may define its own, `mesh<["x"=2]>`.
    """
    match = _SHARDY.fullmatch(text.strip())
    if match is None:
        return unknown(text, "an unknown spelling")
    try:
        name = (match["name"] or "").strip('"')
        if match["mesh"] is None and name not in meshes:
            return unknown(text, f"there is no mesh @{name}")
        mesh = shardy_mesh(match["mesh"]) if match["mesh"] is not None else meshes[name]
        return _on_mesh(mesh, match["body"], rank, text, mesh.size)
    except (BadSharding, ValueError) as problem:
        return unknown(text, str(problem))


def shardy_values(text: str) -> list[str]:
    """The parts of `#sdy.sharding_per_value<[<@mesh, [..]>, ...]>`."""
    inner = text.strip().removeprefix("#sdy.sharding_per_value<[").removesuffix("]>")
    return [f"<{part}>" for part in re.findall(r"<((?:[^<>]|<[^<>]*>)*)>", inner)]


def shardy_mesh(text: str) -> Mesh:
    """A mesh as Shardy prints it: `<["x"=2, "y"=4], device_ids=[...]>`. Raises BadSharding."""
    match = _SHARDY_MESH.fullmatch(text.strip().removeprefix("#sdy.mesh"))
    if match is None:
        raise BadSharding(f"a mesh in an unknown spelling: {text}")
    ids = numbers(match["list"]) if match["list"] else None
    return _with_axes(match["axes"], ids)


def meshes(module: str) -> dict[str, Mesh]:
    """The meshes that an MLIR module defines, by name. Meshes that cannot be read are left out."""
    by_name = {}
    for match in _DEFINED.finditer(module):
        try:
            by_name[match["name"].strip('"')] = shardy_mesh(match["mesh"])
        except BadSharding:
            continue
    return by_name


def _on_mesh(mesh: Mesh, body: str, rank: int, text: str, devices: int) -> Sharding:
    """What follows the mesh: a word, or a list of dimensions with further axes."""
    if body in _WORDS:
        if not mesh.names:
            return shared_by_all(_WORDS[body], devices, rank, text)
        every = [Axis(name) for name in mesh.names]
        given = {_WORDS[body]: every} if body != "replicated" else {}
        return on_mesh(mesh, [()] * rank, given.get(UNREDUCED, ()), given.get(MANUAL, ()), text)
    end = _closing(body)
    dims = [_axes(dim) for dim in _DIMENSION.findall(body[1:end])]
    if not mesh.names:
        is_single = mesh.devices is not None and len(mesh.devices) == 1 and not any(dims)
        return on_one_device(mesh.array.item(), len(dims), text) if is_single else replicated(devices, len(dims), text)
    more = {word: _axes(axes) for word, axes in re.findall(r"(?<!\w)(\w++)=\w*+\{([^{}]*)\}", body[end:])}
    return on_mesh(mesh, dims, more.get("unreduced", ()), more.get("manual", ()), text)


def _axes(text: str) -> tuple[Axis, ...]:
    return tuple(
        Axis(match["name"], int(match["before"] or 1), int(match["size"]) if match["size"] else None)
        for match in _AXIS.finditer(text)
    )


def _mesh(match: re.Match[str]) -> Mesh:
    ids = numbers(match["list"]) if match["list"] else None
    if match["reshape"]:
        ids = iota(numbers(match["reshape"]), numbers(match["perm"])).tolist()
    return _with_axes(match["axes"], ids)


def _with_axes(text: str, ids: list[int] | None) -> Mesh:
    axes = [(match["name"], int(match["size"])) for match in _AXIS_SIZE.finditer(text)]
    return Mesh(tuple(name for name, _ in axes), tuple(size for _, size in axes), tuple(ids) if ids else None)


def iota(reshape: list[int], perm: list[int]) -> Longs:
    """0, 1, 2, ... in the shape `reshape`, its dimensions permuted, as one list. Raises BadSharding."""
    if sorted(perm) != list(range(len(reshape))):
        raise BadSharding(f"T({','.join(map(str, perm))}) does not permute {len(reshape)} dimensions")
    return np.arange(check_number(math.prod(reshape))).reshape(reshape).transpose(perm).ravel()


def _tiled(match: re.Match[str], text: str) -> Sharding:
    dims = numbers(match["dims"])
    if match["iota"]:
        reshape = numbers(match["iota"])
        order = iota(reshape, numbers(match["perm"]) if match["perm"] else list(range(len(reshape))))
    else:
        order = np.array(numbers(match["list"]), np.int64)
    kinds = [REPLICATED] if match["last"] else []
    kinds += [_WORDS.get(word.strip(), word.strip()) for word in (match["kinds"] or "").split(",") if word.strip()]
    return tiled(dims, order, kinds, text)


def numbers(text: str) -> list[int]:
    """The integers of a list that is separated by commas."""
    return [int(number) for number in text.split(",") if number.strip()]


def _closing(text: str) -> int:
    """Where the bracket at the start of a text closes. Raises BadSharding."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth == 0:
            return place
    raise BadSharding(f"no list of dimensions in {text!r:.60}")


def _braces(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, char in enumerate(text):
        if char == "{":
            start = place if depth == 0 else start
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                yield text[start : place + 1]

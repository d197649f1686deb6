"""`--mesh`, `--in-spec` and `--out-spec` on a magic's line, evaluated in the user's namespace."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

if TYPE_CHECKING:
    from jaxstage_ext.core.call import Call
    from jaxstage_ext.core.layout.meshes import Layout
    from jaxstage_ext.core.targets.target import Target

_NAMES = ("--mesh", "--in-spec", "--out-spec")
_WRITE = {
    "--mesh": "sizes of axes such as data=4,model=2, or the name of a mesh",
    "--in-spec": "PartitionSpecs in order or by name, such as \"P('data'), w=P(None, 'model')\"; None is unspecified",
    "--keep": "the argument and its PartitionSpec, such as \"x: P('data')\"",
    "--out-spec": "PartitionSpecs in order, such as \"P('data'), P()\"; None is unspecified",
}
"""What to write, where Python cannot evaluate what was written."""


def check(options: argparse.Namespace, targets: Sequence[Target], compiled: bool) -> None:
    """Raise UsageError for mistakes that are known before the cell runs."""
    given = options.mesh is None or not _is_expression(options.mesh)
    if given and (options.mesh or options.in_spec or options.out_spec):
        _layout(options.mesh, options.in_spec and (options.in_spec,), options.out_spec, targets, compiled)


def read(
    options: argparse.Namespace, space: Mapping[str, Any], targets: Sequence[Target], compiled: bool
) -> Layout | None:
    """The layout of a line; None if the line has no --mesh. Raises UsageError."""
    if options.mesh is None:
        return None
    from jax.sharding import PartitionSpec

    names = {"P": PartitionSpec, "PartitionSpec": PartitionSpec, **space}
    mesh: Any = options.mesh
    if _is_expression(mesh):
        mesh = _evaluated("--mesh", mesh, names)[0][0]
    return _layout(mesh, _inputs(options.in_spec, names), _outputs(options.out_spec, names), targets, compiled)


def checked(call: Call) -> Call:
    """The same call. Raises UsageError, naming the argument, where its PartitionSpecs do not fit."""
    from jaxstage_ext.core.layout import meshes, specs

    try:
        specs.check(call)
    except meshes.MeshError as error:
        raise UsageError(str(error)) from None
    return call


def _is_expression(mesh: str) -> bool:
    """Whether the text is Python (a name, or a call that makes a mesh) instead of axis sizes such as `data=4`."""
    head, equals, _ = mesh.partition("=")
    return not equals or "(" in head


def _layout(mesh: Any, inputs: Any, outputs: Any, targets: Sequence[Target], compiled: bool) -> Layout | None:
    from jaxstage_ext.core.layout import meshes

    try:
        return meshes.layout(mesh, inputs, outputs, targets, compiled, _NAMES)
    except meshes.MeshError as error:
        raise UsageError(str(error)) from None


def _inputs(text: str | None, names: Mapping[str, Any]) -> Any:
    if text is None:
        return ()
    from jax.sharding import PartitionSpec

    args, kwargs = _evaluated("--in-spec", text, names)
    alone = len(args) == 1 and not kwargs and not text.rstrip().endswith(",")
    return args[0] if alone and isinstance(args[0], PartitionSpec) else {**dict(enumerate(args)), **kwargs}


def spec(option: str, text: str, space: Mapping[str, Any]) -> Any:
    """The PartitionSpec, or the tree of them, that the text of an option spells. Raises UsageError."""
    from jax.sharding import PartitionSpec

    return _evaluated(option, text, {"P": PartitionSpec, "PartitionSpec": PartitionSpec, **space})[0][0]


def _outputs(text: str | None, names: Mapping[str, Any]) -> Any:
    if text is None:
        return None
    args, kwargs = _evaluated("--out-spec", text, names)
    if kwargs:
        raise UsageError(f"--out-spec: a result has no part named {next(iter(kwargs))!r}; give the specs in order")
    return args[0] if len(args) == 1 and not text.rstrip().endswith(",") else args


_AUTO = {
    "--in-spec": "AUTO is gone from JAX; leave a spec out, or write None for it, and the compiler chooses",
    "--out-spec": "AUTO is gone from JAX; leave --out-spec out, and the compiler chooses",
}


def _evaluated(option: str, text: str, names: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments that the text spells."""
    try:
        code = compile(f"__given__({text}\n)", f"<{option}>", "eval")
        return eval(code, {**names, "__given__": lambda *args, **kwargs: (args, kwargs)})  # type: ignore[no-any-return]
    except Exception as error:
        if isinstance(error, NameError) and error.name == "AUTO":
            raise UsageError(f"{option} {text!r}: {_AUTO[option]}") from None
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        why = f"{option} {text!r} cannot be evaluated: {type(error).__name__}: {message}"
        raise UsageError(f"{why}; write {_WRITE[option]}") from None

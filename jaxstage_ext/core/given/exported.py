"""A `jax.export.Exported`, as it is given: JAX lowers its call for a target; of the function there is no jaxpr."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping
from typing import Any

import jax
from jax import export

from jaxstage_ext.core.given import symbolic
from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.core.jax_private import given_objects
from jaxstage_ext.core.jax_private.given_objects import CallInfo
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.target import LOCAL, Target
from jaxstage_ext.report.unavailable import Unavailable


def given(
    value: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], sizes: Mapping[str, int], for_target: bool = True
) -> GivenObject | None:
    """An Exported, with its own argument types or these arguments; None for another value.

    Without `for_target` it is only shown, lowered for a platform that it was exported for.

    Raises SymbolicAxis where a type has a symbolic axis of no known size.
    """
    if not isinstance(value, export.Exported):
        return None
    if not args and not kwargs:
        shardings = given_objects.argument_shardings(value) if value.nr_devices > 1 else [None] * len(value.in_avals)
        shapes = [
            symbolic.sized(aval, sizes, sharding) for aval, sharding in zip(value.in_avals, shardings, strict=True)
        ]
        args, kwargs = jax.tree.unflatten(value.in_tree, shapes)
    leaves = jax.tree_util.tree_leaves_with_path((args, dict(kwargs)))
    info = CallInfo(value.fun_name, tuple(_path(path) for path, _ in leaves), (), ())

    def lowered(target: Target) -> Any:
        if for_target:
            _check_platform(value, target)
        platform = _platform(value, target)
        with _devices(value):
            traced = jax.jit(value.call).trace(*args, **kwargs)
            is_here = target.is_local and platform == cross_compile.platform_of(target) and value.nr_devices == 1
            return traced.lower() if is_here else traced.lower(lowering_platforms=(platform,))

    return GivenObject(
        "Exported",
        LOWER,
        value,
        lowered,
        tuple(args),
        dict(kwargs),
        info,
        is_made=True,
        is_file=not for_target,
        example=_example(value),
    )


def fits_here(value: Any) -> bool:
    """Whether it was exported for this machine's platform, and for as many devices as there are or fewer."""
    return cross_compile.platform_of(LOCAL) in value.platforms and value.nr_devices <= jax.device_count()


def _example(value: Any) -> str:
    """A target that it was exported for."""
    if "cpu" in value.platforms:
        return "local" if value.nr_devices == 1 else f"cpu:{value.nr_devices}"
    platform = str(value.platforms[0])
    return {"tpu": "v5e:2x2", "cuda": f"h100:{value.nr_devices}"}.get(platform, platform)


def _platform(value: Any, target: Target) -> str:
    """The target's platform; another one that it was exported for where it was not for that."""
    wanted = cross_compile.platform_of(target)
    return wanted if wanted in value.platforms else str(value.platforms[0])


@contextlib.contextmanager
def _devices(value: Any) -> Iterator[None]:
    """Has as many devices as it was exported for, also where none of its arguments says how they are sharded."""
    if value.nr_devices == 1 or any(given_objects.argument_shardings(value)):
        yield
        return
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((value.nr_devices,), ("devices",))):
        yield


def is_one(value: Any) -> bool:
    """Whether a value is an Exported."""
    return isinstance(value, export.Exported)


def _path(path: Any) -> str:
    """`args[0]['w']` of a leaf of (args, kwargs)."""
    root = "args" if path[0].idx == 0 else "kwargs"
    return root + jax.tree_util.keystr(path[1:])


def _check_platform(value: Any, target: Target) -> None:
    wanted = cross_compile.platform_of(target)
    if wanted not in value.platforms:
        raise Unavailable(
            f"it was exported for {' and '.join(value.platforms)}, not for {wanted}; export it with "
            f"platforms={sorted({*value.platforms, wanted})}, or name a target that it is for"
        )


TIMEOUT = 60.0
"""Seconds for reading a file: JAX counts to whatever number a damaged one names."""


def opened(data: bytes, title: str) -> Any:
    """The `jax.export.Exported` of a file, after a worker has read it and its module and survived.

    Raises UnreadableModule where it is damaged or of a version that this JAX does not read, and Unavailable where the
    package that JAX needs for it is missing.
    """
    from jaxstage_ext.worker import pool  # it needs Unix

    if importlib.util.find_spec("flatbuffers") is None:
        raise Unavailable(
            f"{title} is a serialised jax.export, which JAX reads with flatbuffers: pip install flatbuffers"
        )
    try:
        pool.ask("cpu", {"method": "open_exported", "data": data}, TIMEOUT)
        return export.deserialize(bytearray(data))
    except pool.RequestFailed as failed:
        why = f"{failed.type}: {(str(failed).splitlines() or [''])[0]}"
    except pool.WorkerDied as died:
        is_endless = died.cause == "time limit"
        why = f"JAX read it for {TIMEOUT:g} s and came to no end" if is_endless else died.summary
    except Exception as error:  # what a file is of that the worker's JAX read and this one does not
        why = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    raise UnreadableModule(f"{title} is damaged, or of another version of jax.export: {why}")

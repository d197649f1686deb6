"""Modules out of files, as they are given: read by a worker, which XLA may abort for a damaged one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax

from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.jax_private.given_objects import CallInfo
from jaxstage_ext.core.jax_private.module_lowering import ModuleValue, WrittenModule, lowered_of_module
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.ir import parse_errors
from jaxstage_ext.ir.hlo import hlo_files
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm, WholeModule
from jaxstage_ext.report.deliberate_error import DeliberateError

TIMEOUT = 300.0
"""Seconds for reading a module."""
_MOST_NAMES = 8
NO_ANALYSIS = "a file of HLO holds no analysis of XLA's"


class UnreadableModule(DeliberateError, ValueError):
    """A file is no module, or is damaged. The message says which file, and what is wrong."""


class SeveralModules(DeliberateError, ValueError):
    """A file has several functions that could be compiled; `names` are theirs."""

    def __init__(self, title: str, names: Sequence[str]) -> None:
        some = ", ".join(names[:_MOST_NAMES])
        super().__init__(f"{title} has {len(names)} functions, none of which is main; open one of them: {some}")
        self.names = tuple(names)


def opened(data: bytes, form: ModuleForm, title: str, entry: str = "") -> GivenObject:
    """The module of a file, of several functions of StableHLO the one that is named.

    Raises UnreadableModule, also where XLA does not survive it; SeveralModules where it is not known which is meant.
    """
    if form in (ModuleForm.STABLEHLO_TEXT, ModuleForm.STABLEHLO_BYTECODE):
        return _stablehlo(_asked("stablehlo", data, form, title, entry), form, title)
    return _hlo(_asked(form.name.lower(), data, form, title), form)


def opened_for_compile(data: bytes, form: ModuleForm, title: str, entry: str = "") -> GivenObject:
    """As `opened`, of HLO its StableHLO. Raises UnreadableModule where it is compiled already."""
    if form in (ModuleForm.STABLEHLO_TEXT, ModuleForm.STABLEHLO_BYTECODE):
        return opened(data, form, title, entry)
    return _stablehlo(_asked(f"from_{form.name.lower()}", data, form, title), form, title)


def _whole(data: bytes, form: ModuleForm, title: str) -> WholeModule:
    """The module itself, of serialised HLO that which it holds."""
    if form is not ModuleForm.HLO_PROTO:
        return WholeModule(data, 0)
    try:
        return hlo_files.module_in(data)
    except ValueError as error:
        raise UnreadableModule(f"{title} is damaged: {error}") from None


def _asked(method: str, data: bytes, form: ModuleForm, title: str, entry: str = "") -> Mapping[str, Any]:
    from jaxstage_ext.worker import pool  # it needs Unix

    whole = _whole(data, form, title)
    request = {"method": "open_module", "form": method, "data": whole.proto, "partitions": whole.partitions}
    request["entry"] = entry
    try:
        answer: Mapping[str, Any] = pool.ask("cpu", request, TIMEOUT)
        return answer
    except pool.RequestFailed as failed:
        why = parse_errors.one_line(str(failed), data) or failed.type
    except pool.WorkerDied as died:
        why = died.summary
    raise UnreadableModule(f"{title} cannot be read as {form.value}: {why}")


def _stablehlo(answer: Mapping[str, Any], form: ModuleForm, title: str) -> GivenObject:
    if names := answer.get("entries"):
        raise SeveralModules(title, names)
    arguments, results = (tuple(ModuleValue(*value) for value in answer[part]) for part in ("arguments", "results"))
    written = WrittenModule(
        answer["module"],
        answer["compiled"],
        arguments,
        results,
        answer["propagates"],
        answer["partitions"],
        answer["replicas"],
        answer["is_gspmd"],
        answer["platform"],
    )
    shapes = tuple(map(_shape, arguments))
    info = CallInfo(
        answer["name"],
        tuple(value.name or f"arg{place}" for place, value in enumerate(arguments)),
        tuple(value.name or f"result[{place}]" for place, value in enumerate(results)),
        shapes,
    )

    def lowered(target: Target) -> Any:
        return lowered_of_module(written, cross_compile.platform_of(target))

    example = _example(written)
    return GivenObject(
        form.value, LOWER, None, lowered, shapes, {}, info, is_file=True, example=example, partitions=written.partitions
    )


def _example(written: WrittenModule) -> str:
    """A target that a module is for."""
    if written.platform == "tpu":
        return "v5e:2x2"
    if written.platform in ("cuda", "rocm"):
        return "h100" if written.devices == 1 else f"h100:{written.devices}"
    return "local" if written.devices == 1 else f"cpu:{written.devices}"


def _shape(value: ModuleValue) -> Any:
    return jax.ShapeDtypeStruct(*((value.shape, value.dtype) if value.is_array else ((0,), bool)))  # type: ignore[no-untyped-call]


def _hlo(answer: Mapping[str, Any], form: ModuleForm) -> GivenObject:
    devices = answer["partitions"] * answer["replicas"]

    def executable(target: Target) -> Any:
        nothing = (None, NO_ANALYSIS)
        return Executable(target, answer["text"], answer["proto"], 0.0, devices, (), nothing, nothing)

    info = CallInfo(answer["name"])
    return GivenObject(
        form.value, COMPILE, None, executable, (), {}, info, is_file=True, partitions=answer["partitions"]
    )

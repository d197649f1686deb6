"""Modules out of files, as they are given: read by a worker, which XLA may abort for a damaged one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax

from jaxstage_ext.core.given.given_object import GivenObject
from jaxstage_ext.core.jax_private.given_objects import CallInfo
from jaxstage_ext.core.jax_private.module_lowering import ModuleValue, lowered_of_module
from jaxstage_ext.core.staged import COMPILE, LOWER
from jaxstage_ext.core.targets import cross_compile
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.ir import parse_errors
from jaxstage_ext.ir.hlo import hlo_files
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm, WholeModule
from jaxstage_ext.report.deliberate_error import DeliberateError

TIMEOUT = 300.0
"""Seconds for reading a module."""
NO_ANALYSIS = "a file of HLO holds no analysis of XLA's"


class UnreadableModule(DeliberateError, ValueError):
    """A file is no module, or is damaged. The message says which file, and what is wrong."""


def opened(data: bytes, form: ModuleForm, title: str) -> GivenObject:
    """The module of a file. Raises UnreadableModule, also where XLA does not survive it."""
    if form in (ModuleForm.STABLEHLO_TEXT, ModuleForm.STABLEHLO_BYTECODE):
        return _stablehlo(_asked("stablehlo", data, form, title), form)
    return _hlo(_asked(form.name.lower(), data, form, title), form)


def opened_for_compile(data: bytes, form: ModuleForm, title: str) -> GivenObject:
    """As `opened`, of HLO its StableHLO. Raises UnreadableModule where it is compiled already."""
    if form in (ModuleForm.STABLEHLO_TEXT, ModuleForm.STABLEHLO_BYTECODE):
        return opened(data, form, title)
    return _stablehlo(_asked(f"from_{form.name.lower()}", data, form, title), form)


def _whole(data: bytes, form: ModuleForm, title: str) -> WholeModule:
    """The module itself, of serialised HLO that which it holds."""
    if form is not ModuleForm.HLO_PROTO:
        return WholeModule(data, 0)
    try:
        return hlo_files.module_in(data)
    except ValueError as error:
        raise UnreadableModule(f"{title} is damaged: {error}") from None


def _asked(method: str, data: bytes, form: ModuleForm, title: str) -> Mapping[str, Any]:
    from jaxstage_ext.worker import pool  # it needs Unix

    whole = _whole(data, form, title)
    request = {"method": "open_module", "form": method, "data": whole.proto, "partitions": whole.partitions}
    try:
        answer: Mapping[str, Any] = pool.ask("cpu", request, TIMEOUT)
        return answer
    except pool.RequestFailed as failed:
        why = parse_errors.one_line(str(failed)) or failed.type
    except pool.WorkerDied as died:
        why = died.summary
    raise UnreadableModule(f"{title} cannot be read as {form.value}: {why}")


def _stablehlo(answer: Mapping[str, Any], form: ModuleForm) -> GivenObject:
    arguments, results = ([ModuleValue(*value) for value in answer[part]] for part in ("arguments", "results"))

    def lowered(target: Target) -> Any:
        platform = cross_compile.platform_of(target)
        return lowered_of_module(answer["module"], arguments, results, answer["devices"], platform)

    shapes = tuple(jax.ShapeDtypeStruct(value.shape, value.dtype) for value in arguments)  # type: ignore[no-untyped-call]
    info = CallInfo(
        answer["name"],
        tuple(value.name or f"arg{place}" for place, value in enumerate(arguments)),
        tuple(value.name or f"result[{place}]" for place, value in enumerate(results)),
        shapes,
    )
    return GivenObject(form.value, LOWER, None, lowered, shapes, {}, info, is_file=True)


def _hlo(answer: Mapping[str, Any], form: ModuleForm) -> GivenObject:
    partitions = max(answer["devices"], 1)

    def executable(target: Target) -> Any:
        nothing = (None, NO_ANALYSIS)
        return Executable(target, answer["text"], answer["proto"], 0.0, partitions, (), nothing, nothing)

    return GivenObject(form.value, COMPILE, None, executable, (), {}, CallInfo(answer["name"]), is_file=True)

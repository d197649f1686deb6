"""Modules out of files, read where a damaged one does no harm: StableHLO and HLO, as text or as bytes."""

from __future__ import annotations

import codecs
import re
from typing import Any

from jaxlib import _hlo, _jax  # type: ignore[attr-defined, unused-ignore]

from jaxstage_ext.worker.inside import module_devices, module_functions, module_values
from jaxstage_ext.worker.inside.clients import parsed
from jaxstage_ext.worker.inside.executable_artefacts import text
from jaxstage_ext.worker.inside.module_functions import bytecode

_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_HLO_HEAD = re.compile(r"^\s*HloModule\b", re.MULTILINE)
_UNREGISTERED = "unregistered dialect"
_FUNC = "custom op 'func' is unknown"
_OLD_FUNC = re.compile(rb"^([ \t]*)func((?: private| public)? @)", re.MULTILINE)
_NUMBERS = (("mhlo.num_partitions", "partitions"), ("mhlo.num_replicas", "replicas"))


def opened(form: str, data: bytes, partitions: int = 0, entry: str = "") -> dict[str, Any]:
    """A module in one of the forms "stablehlo", "hlo_text" and "hlo_proto"; "from_hlo_…" is its StableHLO.

    `partitions` is how many a serialised module is for, which XLA does not keep when it reads one; 0 where unknown.
    `entry` is the function of StableHLO that is meant, where there are several and none is `main`.
    """
    if form == "stablehlo":
        return stablehlo(data, entry)
    module = _hlo_module(data, is_text=form.endswith("text"))
    return _converted(module, partitions) if form.startswith("from_") else _described(module, partitions)


def stablehlo(data: bytes, entry: str = "") -> dict[str, Any]:
    """A module of StableHLO, text or bytecode: its "name", "module", its bytecode, and what its function takes.

    "compiled" is the module as XLA takes it, b"" where that is the same; "arguments" and "results" are `WrittenValue`s;
    "propagates" of which parameters and results XLA chooses the sharding; "partitions" and "replicas" what it is for;
    "platform" whose libraries it calls; "is_gspmd" whether its shardings are those of before Shardy. Of several
    functions, none of them `main`, "entries" alone are their names. Raises ValueError where it is no such module.
    """
    module = module_of(data)
    module_functions.without_parsed_places(module)
    found = module_functions.entries(module)
    if not found:
        raise ValueError("the module has no function with a body, so there is nothing to compile")
    if len(found) > 1 and entry not in found:
        return {"entries": found}
    entry = entry if entry in found else found[0]
    if len(found) > 1 or entry not in map(module_functions.symbol, module.body.operations):
        module = module_functions.of_entry(module, entry)
    return _module_described(module)


def _module_described(module: Any) -> dict[str, Any]:
    [name] = module_functions.entries(module)
    function, shown = module_functions.functions(module)[name], module.operation.get_asm(large_elements_limit=64)
    counts = module_devices.of_stablehlo(module, shown)
    propagates = ([not each for each in some] for some in module_values.are_sharded(function))
    return {
        "name": module_functions.symbol(module) or name,
        "module": bytecode(module),
        "compiled": module_functions.for_xla(module, name),
        "arguments": list(map(tuple, module_values.arguments(function))),
        "results": list(map(tuple, module_values.results(function))),
        "propagates": tuple(propagates),
        "partitions": counts.partitions,
        "replicas": counts.replicas,
        "platform": module_devices.platform_of(shown),
        "is_gspmd": "mhlo.sharding" in shown and "sdy." not in shown,
    }


def module_of(data: bytes) -> Any:
    """StableHLO, text or bytecode, as a module. Raises ValueError where it is none."""
    try:
        module = _parsed(data)
        if any(operation.operation.name.startswith("vhlo.") for operation in module.body.operations):
            with module.context:
                return _jax.mlir.deserialize_portable_artifact(data)
        return module
    except Exception as error:
        raise ValueError(str(error)) from None


def _parsed(data: bytes) -> Any:
    """As `parsed`, also after a byte order mark, of functions as before MLIR 15, whose `func` had no dialect, and with
    operations in the general form of dialects that are not known, which are shown and not compiled.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return parsed(data)
    except Exception as error:
        if _FUNC in str(error):
            return parsed(_OLD_FUNC.sub(rb"\1func.func\2", data))
        if _UNREGISTERED not in str(error):
            raise
        try:
            return parsed(data, allow_unregistered=True)
        except Exception:
            raise error from None


def _hlo_module(data: bytes, is_text: bool) -> Any:
    """Raises ValueError where XLA cannot read it."""
    if is_text:
        written = data.decode("utf-8-sig", "replace")  # a comment may be in any encoding
        try:
            return _hlo.hlo_module_from_text(written)
        except Exception:
            if _HLO_HEAD.search(written):
                raise
            return _hlo.hlo_module_from_text(f"HloModule module {written}")  # which XLA leaves out in some texts only
    return _hlo.HloModule.from_serialized_hlo_module_proto(data)


def _described(module: Any, partitions: int) -> dict[str, Any]:
    """A module of HLO: "name", "proto", "text", "partitions" and "replicas"."""
    proto, shown = module.as_serialized_hlo_module_proto(), text(module, large_constants=False)
    counts = module_devices.of_hlo(shown, partitions)
    return {"name": module.name, "proto": proto, "text": shown, **counts._asdict()}


def _converted(module: Any, partitions: int) -> dict[str, Any]:
    """A module of HLO as `stablehlo` describes it. Raises ValueError where it is scheduled, as compiled modules are."""
    from jaxlib.mlir import ir

    shown = text(module, large_constants=False)
    if _SCHEDULED.search(shown.partition("\n")[0]):
        raise ValueError("it is scheduled, so it is compiled already; a target needs the module before the passes")
    counts = module_devices.of_hlo(shown, partitions)._asdict()
    made = parsed(bytes(_jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())))
    with made.context, ir.Location.unknown():
        for name, what in _NUMBERS:
            made.operation.attributes[name] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), counts[what])
    return _module_described(made)

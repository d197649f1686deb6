"""A module as XLA's partitioner gets it: converted to HLO and back, calls inlined, the arguments' shardings taken off.

XLA propagates shardings through what it converts back from HLO, where a degenerate broadcast is a reshape, for one.
On JAX's own StableHLO the same passes give other shardings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxlib import _jax  # type: ignore[attr-defined, unused-ignore]

from jaxstage_ext.worker.inside.clients import parsed
from jaxstage_ext.worker.inside.module_functions import MAIN, bytecode, functions
from jaxstage_ext.worker.inside.partitioning import flat_tuples, inlined_calls, own_layout, user_constraints

_IMPORT = "builtin.module(xla-sdy-round-trip-import-shardy-attrs)"


class RoundTrip(NamedTuple):
    """A module that is ready for layouts."""

    module: Any
    """Of MLIR, with `main` alone."""
    constraints: list[tuple[str, int]]
    """The axes that the program's own constraints name, with their sizes in its mesh."""
    own: dict[str, Any] | None
    """The layout that the program was lowered with; None where it names none."""


def round_trip(module: bytes, with_constraints: bool = True) -> RoundTrip:
    """Bring StableHLO bytecode to where XLA's partitioner takes it.

    Without `with_constraints` the program's own, which types with explicit axes make of each operation, are left out.
    Raises what jaxlib does where XLA does not take it.
    """
    given = parsed(module)
    main = functions(given)[MAIN].operation
    own = own_layout.read(given, main)
    _take_off(main)
    made = _through_hlo(bytecode(given.operation))
    flat_tuples.flatten(made)
    _run(made, _IMPORT)
    inlined_calls.inline(made)
    return RoundTrip(made, user_constraints.import_constraints(made, with_constraints), own)


def _through_hlo(module: bytes) -> Any:
    mlir: Any = _jax.mlir
    computation = mlir.mlir_module_to_xla_computation(module, use_tuple_args=False, return_tuple=False)
    return parsed(mlir.hlo_to_stablehlo(computation.as_serialized_hlo_module_proto()))


def _run(module: Any, pipeline: str) -> None:
    from jaxlib.mlir.passmanager import PassManager

    with module.context:
        PassManager.parse(pipeline).run(module.operation)


def _take_off(function: Any) -> None:
    """The shardings of arguments and results, which would become constraints; a layout has its own."""
    from jaxlib.mlir import ir

    with function.context:
        for name in ("arg_attrs", "res_attrs"):
            if name in function.attributes:
                empty = ir.DictAttr.get({})
                function.attributes[name] = ir.ArrayAttr.get([empty] * len(function.attributes[name]))

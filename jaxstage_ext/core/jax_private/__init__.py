"""The private names of jax and jaxlib that the rest relies on, one file for each topic. Nothing else imports any.

Checked with jax 0.10.2, 0.11.2 and 0.12.0.1.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxstage_ext.core.jax_private.dispatch_rules import is_jitted, slow_causes
    from jaxstage_ext.core.jax_private.jaxprs import (
        called,
        constants,
        count_equations,
        differing_literals,
        inner_equations,
        inner_jaxprs,
        inner_kept_jaxprs,
        nested_equations,
        print_jaxpr,
        source_of,
        split_by_policy,
        variables,
    )
    from jaxstage_ext.core.jax_private.lowered import (
        Placed,
        Signature,
        compile_request,
        count_operations,
        holds_python,
        meshes_of_module,
        module_bytecode,
        module_of_lowered,
        own_options,
        placed,
        signature,
        stablehlo_texts,
        texts_of_module,
    )
    from jaxstage_ext.core.jax_private.mesh_names import NamedMesh, mesh_words, named_meshes
    from jaxstage_ext.core.jax_private.module_lowering import is_gspmd, written_module
    from jaxstage_ext.core.jax_private.nonfinite_equation import first_nonfinite, is_nonfinite
    from jaxstage_ext.core.jax_private.options import (
        BuildFields,
        ConfiguredOptions,
        backends_exist,
        build_fields,
        build_options,
        compile_options,
        config_of_flag,
        configured_options,
        expected_options,
        guided_by_profile,
        jaxlib_version,
        plain_options,
        propagation,
        sets_itself,
        version,
        xla_library,
    )
    from jaxstage_ext.core.jax_private.refs import is_ref, is_token
    from jaxstage_ext.core.jax_private.rematerialized import (
        SplitForward,
        is_well_formed,
        renamed,
        split_forward,
        with_donated,
        with_equations,
        with_inner,
        with_jaxpr,
    )
    from jaxstage_ext.core.jax_private.tracebacks import (
        canonical_file,
        frame_limit,
        frame_position,
        name_stack,
        raw_frames,
        stack_identity,
    )
    from jaxstage_ext.core.jax_private.tracing import (
        given_shardings,
        is_pmap,
        own_shardings,
        pmap_axes,
        pmap_out_axes,
        static_arguments,
        trace_through_lower,
        traces_by_function,
        with_context_mesh,
    )
    from jaxstage_ext.core.jax_private.xla_executables import (
        costs_of_loaded,
        fingerprint,
        hlo_modules,
        hlo_proto,
        hlo_text,
        hlo_text_of_proto,
        memory_of_loaded,
        module_of_loaded,
    )

__all__ = [
    "BuildFields",
    "ConfiguredOptions",
    "NamedMesh",
    "Placed",
    "Signature",
    "SplitForward",
    "backends_exist",
    "build_fields",
    "build_options",
    "called",
    "canonical_file",
    "compile_options",
    "compile_request",
    "config_of_flag",
    "configured_options",
    "constants",
    "costs_of_loaded",
    "count_equations",
    "count_operations",
    "differing_literals",
    "expected_options",
    "fingerprint",
    "first_nonfinite",
    "frame_limit",
    "frame_position",
    "given_shardings",
    "guided_by_profile",
    "hlo_modules",
    "hlo_proto",
    "hlo_text",
    "hlo_text_of_proto",
    "holds_python",
    "inner_equations",
    "inner_jaxprs",
    "inner_kept_jaxprs",
    "is_gspmd",
    "is_jitted",
    "is_nonfinite",
    "is_pmap",
    "is_ref",
    "is_token",
    "is_well_formed",
    "jaxlib_version",
    "memory_of_loaded",
    "mesh_words",
    "meshes_of_module",
    "module_bytecode",
    "module_of_loaded",
    "module_of_lowered",
    "name_stack",
    "named_meshes",
    "nested_equations",
    "own_options",
    "own_shardings",
    "placed",
    "plain_options",
    "pmap_axes",
    "pmap_out_axes",
    "print_jaxpr",
    "propagation",
    "raw_frames",
    "renamed",
    "sets_itself",
    "signature",
    "slow_causes",
    "source_of",
    "split_by_policy",
    "split_forward",
    "stablehlo_texts",
    "stack_identity",
    "static_arguments",
    "texts_of_module",
    "trace_through_lower",
    "traces_by_function",
    "variables",
    "version",
    "with_context_mesh",
    "with_donated",
    "with_equations",
    "with_inner",
    "with_jaxpr",
    "written_module",
    "xla_library",
]

_NAMES = {
    "dispatch_rules": "is_jitted slow_causes",
    "jaxprs": (
        "called constants count_equations differing_literals inner_equations inner_jaxprs inner_kept_jaxprs "
        "nested_equations print_jaxpr source_of split_by_policy variables"
    ),
    "lowered": (
        "Placed Signature compile_request count_operations holds_python meshes_of_module module_bytecode "
        "module_of_lowered own_options placed signature stablehlo_texts texts_of_module"
    ),
    "mesh_names": "NamedMesh mesh_words named_meshes",
    "module_lowering": "is_gspmd written_module",
    "nonfinite_equation": "first_nonfinite is_nonfinite",
    "options": (
        "BuildFields ConfiguredOptions backends_exist build_fields build_options compile_options "
        "config_of_flag configured_options expected_options guided_by_profile jaxlib_version plain_options "
        "propagation sets_itself version xla_library"
    ),
    "refs": "is_ref is_token",
    "rematerialized": (
        "SplitForward is_well_formed renamed split_forward with_donated with_equations with_inner with_jaxpr"
    ),
    "tracebacks": "canonical_file frame_limit frame_position name_stack raw_frames stack_identity",
    "tracing": (
        "given_shardings is_pmap own_shardings pmap_axes pmap_out_axes static_arguments trace_through_lower "
        "traces_by_function with_context_mesh"
    ),
    "xla_executables": (
        "costs_of_loaded fingerprint hlo_modules hlo_proto hlo_text hlo_text_of_proto memory_of_loaded module_of_loaded"
    ),
}
"""What each file has; it is imported when one of its names is first used, for `%load_ext` needs few of them."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    globals()[name] = value = getattr(home, name)
    return value

"""The private names of jax and jaxlib that the rest relies on, one file for each topic. Nothing else imports any.

Checked with jax 0.10.2, 0.11.2 and 0.12.0.1.
"""

from jaxstage_ext.core.jax_private.jaxprs import (
    called,
    count_equations,
    inner_equations,
    inner_jaxprs,
    print_jaxpr,
    split_by_policy,
    variables,
)
from jaxstage_ext.core.jax_private.lowered import (
    Placed,
    Signature,
    compile_request,
    holds_python,
    module_bytecode,
    own_options,
    placed,
    signature,
    stablehlo_texts,
)
from jaxstage_ext.core.jax_private.options import (
    ConfiguredOptions,
    build_options,
    compile_options,
    configured_options,
    jaxlib_version,
    sets_itself,
    version,
    xla_library,
)
from jaxstage_ext.core.jax_private.rematerialized import (
    SplitForward,
    is_well_formed,
    renamed,
    split_forward,
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
    is_pmap,
    own_shardings,
    static_arguments,
    trace_through_lower,
    with_context_mesh,
)
from jaxstage_ext.core.jax_private.xla_executables import hlo_modules, hlo_proto, hlo_text

__all__ = [
    "ConfiguredOptions",
    "Placed",
    "Signature",
    "SplitForward",
    "build_options",
    "called",
    "canonical_file",
    "compile_options",
    "compile_request",
    "configured_options",
    "count_equations",
    "frame_limit",
    "frame_position",
    "hlo_modules",
    "hlo_proto",
    "hlo_text",
    "holds_python",
    "inner_equations",
    "inner_jaxprs",
    "is_pmap",
    "is_well_formed",
    "jaxlib_version",
    "module_bytecode",
    "name_stack",
    "own_options",
    "own_shardings",
    "placed",
    "print_jaxpr",
    "raw_frames",
    "renamed",
    "sets_itself",
    "signature",
    "split_by_policy",
    "split_forward",
    "stablehlo_texts",
    "stack_identity",
    "static_arguments",
    "trace_through_lower",
    "variables",
    "version",
    "with_context_mesh",
    "with_equations",
    "with_inner",
    "with_jaxpr",
    "xla_library",
]

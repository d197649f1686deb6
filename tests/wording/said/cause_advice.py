"""What to do about each cause."""

from dataclasses import replace

from cause_facts import FLOAT, INT, NUMBER, OF_EQUINOX, RECORD, both, one, verdict, with_statics

from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.cause_advice import ADVICE
from jaxstage_ext.compilation.causes.nearest_record import AS_ARRAY
from jaxstage_ext.compilation.records.compile_record import CompileRecord

Y = replace(NUMBER, what="y")
DTYPE = Difference(Cause.DTYPE, "x", "float32", "float64", "jnp.float32")
KEY = Difference(Cause.DTYPE, "key", "key<fry>", "uint32")
STATIC = with_statics(RECORD, replace(INT, name="x"))


def said(verdict: Verdict, record: CompileRecord = RECORD) -> list[str]:
    return both(ADVICE[verdict.cause](record, verdict))


def of_x(cause: Cause, *changes: Difference) -> list[str]:
    return said(verdict(cause, *changes))


SAID = {
    **{cause.name: said(verdict(cause)) for cause in ADVICE},
    "SHARDING_TYPE after a compile ahead of time": said(
        replace(one(Cause.SHARDING_TYPE, "x", "uncommitted", "P('data')", "target"), is_after_ahead=True)
    ),
    "SHAPE of two arguments": of_x(Cause.SHAPE, NUMBER, Y),
    "SHAPE of six arguments, no code": of_x(Cause.SHAPE, *(replace(NUMBER, what=n, target="") for n in "abcdef")),
    "SHAPE of another rank": of_x(Cause.SHAPE, replace(NUMBER, is_of_other_rank=True)),
    "SHAPE of a model": of_x(Cause.SHAPE, replace(NUMBER, what="model.layers[0]")),
    "SHAPE of sizes that are powers of two": of_x(Cause.SHAPE, replace(NUMBER, has_bucket_sizes=True)),
    "SHAPE and DTYPE of one argument": of_x(Cause.SHAPE, NUMBER, DTYPE),
    "SHAPE and DTYPE of two arguments": of_x(Cause.SHAPE, NUMBER, replace(DTYPE, what="y")),
    "SHAPE and keys": of_x(Cause.SHAPE, NUMBER, KEY),
    "DTYPE, no code": of_x(Cause.DTYPE, replace(DTYPE, target="")),
    "DTYPE of two dtypes": of_x(Cause.DTYPE, DTYPE, replace(DTYPE, what="y", target="jnp.int32")),
    "PYTREE to an array": said(one(Cause.PYTREE, target=AS_ARRAY)),
    "PYTREE to a list": said(one(Cause.PYTREE, target="list")),
    "PYTREE of a class defined again": said(one(Cause.PYTREE, "x", "Net", "Net")),
    "PYTREE with None": said(one(Cause.PYTREE, "x", "None", "f32[8]")),
    "PYTREE of other keys": said(one(Cause.PYTREE, "x['b']", "", "f32[8]")),
    "ARGUMENT_FORM, given once": said(one(Cause.ARGUMENT_FORM, "x", "", "keyword")),
    "ARGUMENT_FORM, by keyword and by position": said(one(Cause.ARGUMENT_FORM, "x", "keyword", "positional")),
    "STATIC_VALUE that is a size": said(verdict(Cause.STATIC_VALUE), STATIC),
    "STATIC_VALUE that is none": said(verdict(Cause.STATIC_VALUE), with_statics(RECORD, FLOAT)),
    "STATIC_VALUE that is needed": said(verdict(Cause.STATIC_VALUE, can_be_mended=False)),
    "STATIC_VALUE of a part": said(one(Cause.STATIC_VALUE, "x.size")),
    "STATIC_VALUE of equinox": said(verdict(Cause.STATIC_VALUE), OF_EQUINOX),
    "STATIC_VALUE of a new class": said(one(Cause.STATIC_VALUE, "x", "Net", "Net", is_of_new_class=True)),
    "STATIC_IDENTITY of a function": said(one(Cause.STATIC_IDENTITY, "x", "function", "function")),
    "STATIC_IDENTITY of an object": said(one(Cause.STATIC_IDENTITY, "x", "Config", "Config")),
    "CONFIG, a mesh": said(one(Cause.CONFIG, "mesh_context_manager")),
    "CONFIG, an option": said(one(Cause.CONFIG, "jax_enable_x64", "False", "True", "True")),
    "CONFIG, another": said(one(Cause.CONFIG, "numpy_dtype_promotion")),
    "SETTINGS_ADDED by Pallas": said(one(Cause.SETTINGS_ADDED, "pallas_grid_context, pallas_dynamic_shapes_export")),
    "UNHASHABLE_STATIC to a tuple": said(one(Cause.UNHASHABLE_STATIC, target="tuple(x)")),
    "UNHASHABLE_STATIC, no name": said(one(Cause.UNHASHABLE_STATIC, "")),
    "DONATED_BEFORE": said(one(Cause.DONATED_BEFORE, "x['w']")),
    "DONATED_BEFORE, no name": said(one(Cause.DONATED_BEFORE, "")),
    "EAGER, control flow": said(verdict(Cause.EAGER, is_wasted=True), replace(RECORD, name="scan")),
}

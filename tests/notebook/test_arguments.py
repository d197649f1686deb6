"""`--args` and annotations: what they give, and where they say a mistake is."""

from __future__ import annotations

from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError
from jaxtyping import Array, ArrayLike, BFloat16, Bool, Float, Int, Key, Num, PRNGKeyArray, PyTree, Shaped

from jaxstage_ext.notebook.cells.calls import NoArguments, arguments
from jaxstage_ext.notebook.lines.annotations import NoShape, describe_arguments, shape_from
from jaxstage_ext.notebook.lines.arguments import Dims, dtype_named, parse


def spec(dtype: str, *shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


def read(text: str, names: dict[str, Any] | None = None, **dims: int) -> Any:
    return parse(text, names or {}, Dims(dims))


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [
        ("", (), {}),
        ("f32[8,128], w=f32[128,512]", (spec("float32", 8, 128),), {"w": spec("float32", 128, 512)}),
        ("f32[], i32[ ]", (spec("float32"), spec("int32")), {}),
        ("(f32[2], bf16[3])", ((spec("float32", 2), spec("bfloat16", 3)),), {}),
        ('{"a": f32[3], "b": [f32[2], 4]}', ({"a": spec("float32", 3), "b": [spec("float32", 2), 4]},), {}),
        ('3, 1.5, True, None, "f32[]", -2', (3, 1.5, True, None, "f32[]", -2), {}),
        ("u8[4], s32[3], pred[2]", (spec("uint8", 4), spec("int32", 3), spec("bool", 2)), {}),
        ("c64[1], f8_e4m3fn[2]", (spec("complex64", 1), spec("float8_e4m3fn", 2)), {}),
        ("*[f32[1], f32[2]], **{'n': 3}", (spec("float32", 1), spec("float32", 2)), {"n": 3}),
    ],
)  # fmt: skip
def test_reads_as_the_arguments_of_a_call(text: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    got = read(text)
    assert (got.args, dict(got.kwargs)) == (args, kwargs)


def test_keys_names_and_axes() -> None:
    got = read("key[], key[b], params, cfg['n'], f32[b, 2*h, n]", {"params": [1], "cfg": {"n": 7}, "n": 5}, b=3, h=4)
    assert jnp.issubdtype(got.args[0].dtype, jax.dtypes.prng_key)
    assert got.args[1].shape == (3,)
    assert got.args[2:] == ([1], 7, spec("float32", 3, 8, 5))


def test_a_variable_hides_a_short_name_only_where_it_is_no_dtype() -> None:
    assert read("i[0]", {"i": [11]}).args == (11,)
    assert read("f32[2]", {"f32": jnp.float32}).args == (spec("float32", 2),)


MISTAKES = [
    ("f33[8,128]", ("'f33'", "f32"), 1),
    ("f32[8], w=qqq[3]", ("'qqq'",), 11),
    ("f32[8,128", ("'['",), 4),
    ("f32[8])", ("')'",), 7),
    ("f32[b]", ("'b'", "--dim", "b=8"), 5),
    ("f32[2], f32[-1]", ("-1",), 13),
    ("f32[1.5]", ("1.5",), 5),
    ("f32", ("f32",), 1),
    ("nope", ("'nope'",), 1),
    ("f64[3]", ("jax.config.update('jax_enable_x64'", "True"), 1),
    ('"é", f33[8]', ("'f33'",), 6),
    ("1/0", ("ZeroDivisionError",), 1),
]


@pytest.mark.parametrize(("text", "facts", "column"), MISTAKES)
def test_points_at_the_place(text: str, facts: tuple[str, ...], column: int) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    head, quoted, caret = str(caught.value).split("\n")
    assert all(fact in head for fact in facts)
    assert head.startswith("--args: ")
    assert head.endswith(f"at column {caret.index('^') - 1}:")
    assert quoted == f"  {text}"
    assert abs(caret.index("^") - 1 - column) <= (text == "f32[8])")


@given(st.text(max_size=40))
def test_whatever_is_typed_is_read_or_refused_in_words(text: str) -> None:
    try:
        parse(text, {"__builtins__": {}}, Dims())
    except UsageError as error:
        assert str(error).startswith("--args: ")


def test_64_bit_types_where_jax_has_them() -> None:
    with jax.enable_x64(True):
        assert read("f64[3]").args == (spec("float64", 3),)


def test_every_short_name_in_a_jaxpr_is_known() -> None:
    for dtype in (
        "float16",
        "float32",
        "bfloat16",
        "int8",
        "int32",
        "uint8",
        "uint32",
        "bool",
        "complex64",
        "float8_e5m2",
    ):
        text = str(jax.make_jaxpr(lambda x: x)(jax.ShapeDtypeStruct((3,), dtype)))
        short = text.split("lambda ; a:")[1].split("[")[0]
        assert dtype_named(short) == jnp.dtype(dtype), short


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Float[Array, "8 128"], spec("float32", 8, 128)),
        (Float[Array, ""], spec("float32")),
        (Float[Array, "b h=4 b+1 2*b _c"], spec("float32", 3, 4, 4, 6, 5)),
        (Float[ArrayLike, "8"], spec("float32", 8)),
        (Float[Array, "8"] | None, spec("float32", 8)),
        (Annotated[Int[Array, "8"], "ids"], spec("int32", 8)),
        (BFloat16[Array, "8"], spec("bfloat16", 8)),
        (Bool[Array, "8"], spec("bool", 8)),
        (Num[Array, "8"], spec("float32", 8)),
    ],
)
def test_jaxtyping_gives_shapes(annotation: Any, expected: Any) -> None:
    assert shape_from(annotation, Dims(dict(b=3, c=5))) == expected


def test_jaxtyping_keys() -> None:
    for annotation in (Key[Array, ""], PRNGKeyArray):
        assert jnp.issubdtype(shape_from(annotation, Dims()).dtype, jax.dtypes.prng_key)


ANNOTATIONS = [
    (jax.Array, ()),
    (int, ()),
    (PyTree[Float[Array, "3"]], ()),
    (Float[Array, "b 3"], ("'b'", "--dim", "b=8")),
    (Float[Array, "... 3"], ("'...'",)),
    (Float[Array, "*batch 3"], ("'*batch'",)),
    (Float[Array, "_ 3"], ("'_'",)),
    (Shaped[Array, "3"], ()),
]


@pytest.mark.parametrize(("annotation", "facts"), ANNOTATIONS)
def test_says_why_an_annotation_is_not_enough(annotation: Any, facts: tuple[str, ...]) -> None:
    with pytest.raises(NoShape) as caught:
        shape_from(annotation, Dims())
    assert all(fact in str(caught.value) for fact in facts)


def f(w: Float[Array, "b 3"], x: Float[Array, "3"], scale: float = 2.0, *, mode: str = "a") -> Any: ...


def test_annotations_fill_what_is_not_given_and_defaults_stay_the_functions_own() -> None:
    assert arguments(f, "f", None, Dims(dict(b=2))) == ((spec("float32", 2, 3), spec("float32", 3)), {})
    assert arguments(f, "f", read("x=5"), Dims(dict(b=2))) == ((spec("float32", 2, 3), 5), {})


def test_named_arguments_go_home_and_the_others_fill_the_rest() -> None:
    args, kwargs = arguments(lambda w, x: None, "loss", read("f32[8,128], w=f32[128,512]"), Dims())
    assert (args, kwargs) == ((spec("float32", 128, 512), spec("float32", 8, 128)), {})


def test_after_a_gap_arguments_go_by_name() -> None:
    def g(a: Any, b: Any = 1, c: Any = 2, *, d: Any = 3) -> None: ...

    assert arguments(g, "g", read("0, c=5, d=6"), Dims()) == ((0,), {"c": 5, "d": 6})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1, 2, 3, 4", "--args gives 4 arguments, but f(w, x, scale, mode) takes fewer"),
        ("weight=1", "f has no parameter 'weight'"),
        ("scal=1", "did you mean scale?"),
    ],
)
def test_says_which_argument_does_not_fit(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        arguments(f, "f", read(text), Dims())
    assert said in str(caught.value)


def test_says_which_parameter_is_left_without() -> None:
    with pytest.raises(NoArguments) as caught:
        arguments(lambda w, x: None, "loss", read("w=3"), Dims())
    assert str(caught.value) == "loss: parameter x has no annotation"


def test_annotations_of_an_inner_function_are_not_those_of_its_vmap() -> None:
    assert describe_arguments(f)
    assert describe_arguments(jax.jit(f))
    assert not describe_arguments(jax.vmap(f))
    assert not describe_arguments(jax.jit(jax.vmap(f)))
    assert not describe_arguments(eqx.filter_vmap(f))
    assert describe_arguments(eqx.filter_jit(f))
    with pytest.raises(NoArguments) as caught:
        arguments(jax.vmap(f), "g", None, Dims(dict(b=2)))
    assert "that of the inner function" in str(caught.value)


def test_an_axis_that_nothing_has_is_an_error() -> None:
    dims = Dims(dict(b=2, c=3))
    shape_from(Float[Array, "b 3"], dims)
    with pytest.raises(UsageError) as caught:
        dims.check_used()
    assert str(caught.value) == "--dim c=3: no axis is named 'c'"

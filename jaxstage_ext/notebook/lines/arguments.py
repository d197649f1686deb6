"""`--args "f32[8,128], w=f32[128,512]"`: shapes, pytrees of shapes, values and names, read as a call's arguments."""

from __future__ import annotations

import ast
import builtins
import difflib
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook.cells.cell import names

_SCALAR = re.compile(r"""('(?:\\(?s:.)|[^'\\])*+(?:'|\\?\Z)|"(?:\\(?s:.)|[^"\\])*+(?:"|\\?\Z))|(?<=\w)\[([ \t]*)\]""")
_SHORT = re.compile(r"(bf|f|i|s|u|c)(\d+)(_?e\d\w*)?")
_KINDS = {"f": "float", "bf": "bfloat", "i": "int", "s": "int", "u": "uint", "c": "complex"}
_KNOWN = [
    "bool",
    "f16",
    "bf16",
    "f32",
    "f64",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "u4",
    "u8",
    "u16",
    "u32",
    "u64",
    "c64",
    "c128",
    "float32",
    "int32",
    "bfloat16",
    "key",
]


@dataclass(frozen=True)
class Given:
    """The arguments of `--args`, by position and by name."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


class Dims(dict[str, int]):
    """Sizes of named axes, from `--dim`, and which of them were used."""

    def __init__(self, sizes: Any = ()) -> None:
        super().__init__(sizes)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.used.add(name)
        return super().__getitem__(name)

    def check_used(self) -> None:
        """Raise UsageError for a `--dim` that named no axis."""
        if unused := [name for name in self if name not in self.used]:
            raise UsageError(f"--dim {unused[0]}={self.get(unused[0])}: no axis is named {unused[0]!r}")


def parse(text: str, namespace: Mapping[str, Any], dims: Dims) -> Given:
    """Parse `--args`. Raises UsageError with a caret under the mistake."""
    return _Reader(text, namespace, dims).read()


def dtype_named(name: str) -> Any:
    """The dtype of a name as in jaxprs or in numpy ("f32", "bfloat16", "f8_e4m3fn"); None if there is none.

    `i4` and `u4` are 4-bit integers, as in jaxprs.
    """
    import jax.numpy as jnp

    if match := _SHORT.fullmatch(name):
        exponent = (match[3] or "").removeprefix("_")
        name = _KINDS[match[1]] + match[2] + (f"_{exponent}" if exponent else "")
    if name in ("pred", "b1"):
        name = "bool"
    if not re.fullmatch(r"bool|b?float\d+(_e\w+)?|u?int\d+|complex\d+", name):
        return None
    scalar = getattr(jnp, "bool_" if name == "bool" else name, None)
    return None if scalar is None else jnp.dtype(scalar)


def shape_of(shape: tuple[int, ...], dtype: Any) -> Any:
    """A `jax.ShapeDtypeStruct`. Raises ValueError for a 64-bit type that JAX would narrow."""
    import jax
    import jax.numpy as jnp

    if not jnp.issubdtype(dtype, jax.dtypes.extended) and jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError(f"{dtype} needs 64-bit JAX; set jax.config.update('jax_enable_x64', True)")
    return jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]


def key_dtype() -> Any:
    """The dtype of a key of JAX's default random generator."""
    import jax

    return jax.eval_shape(jax.random.key, 0).dtype


class _Reader:
    def __init__(self, text: str, namespace: Mapping[str, Any], dims: Dims) -> None:
        self.text, self.namespace, self.dims = text, namespace, dims
        self.head = "_("

    def read(self) -> Given:
        source = self.head + _SCALAR.sub(lambda m: m[1] or f"({m[2]})", self.text).replace("\n", " ") + "\n)"
        try:
            call = ast.parse(source, mode="eval").body
        except SyntaxError as error:
            raise self.unreadable(error) from None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "_":
            raise self.error("unmatched closing bracket", len(self.head))
        args: list[Any] = []
        for node in call.args:
            args += self.value(node.value) if isinstance(node, ast.Starred) else [self.value(node)]
        kwargs: dict[str, Any] = {}
        for keyword in call.keywords:
            value = self.value(keyword.value)
            kwargs |= value if keyword.arg is None else {keyword.arg: value}
        return Given(tuple(args), kwargs, self.text)

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Tuple(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.List(elts=parts):
                return [self.value(part) for part in parts]
            case ast.Dict():
                return self.mapping(node)
            case ast.Name() if node.id not in self.namespace and _is_dtype(node.id):
                raise self.error(
                    f"{node.id} needs a shape: {node.id}[8,128], or {node.id}[] for a scalar", node.col_offset
                )
            case ast.Subscript(value=ast.Name() as name, slice=sizes) if self.means_shape(name):
                axes = sizes.elts if isinstance(sizes, ast.Tuple) else [sizes]
                return self.shape(name, tuple(self.size(axis) for axis in axes))
            case ast.Call(func=ast.Name() as name) if self.is_scalar(node) and self.means_shape(name):
                return self.shape(name, ())
        return self.evaluate(node)

    def mapping(self, node: ast.Dict) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            made |= self.value(value) if key is None else {self.evaluate(key): self.value(value)}
        return made

    def is_scalar(self, node: ast.Call) -> bool:
        """Whether the call stands for `f32[]`, which is not Python."""
        end = (node.end_col_offset or 0) - len(self.head)
        return self.text.encode()[end - 1 : end] == b"]"

    def means_shape(self, name: ast.Name) -> bool:
        if _is_dtype(name.id):
            return True
        if name.id in self.namespace:
            return False
        near = difflib.get_close_matches(name.id, _KNOWN, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise self.error(f"unknown dtype {name.id!r}{hint}", name.col_offset)

    def shape(self, name: ast.Name, sizes: tuple[int, ...]) -> Any:
        dtype = key_dtype() if name.id == "key" else dtype_named(name.id)
        try:
            return shape_of(sizes, dtype)
        except ValueError as error:
            raise self.error(str(error), name.col_offset) from None

    def size(self, node: ast.expr) -> int:
        value = self.evaluate(node, self.dims)
        try:
            size = operator.index(value)
        except TypeError:
            raise self.error(f"an axis size must be an integer, not {value!r}", node.col_offset) from None
        if size < 0:
            raise self.error(f"an axis size must not be negative, got {size}", node.col_offset)
        return size

    def evaluate(self, node: ast.expr, dims: Dims | None = None) -> Any:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id not in self.namespace and part.id not in (dims or {}):
                if dims is not None:
                    raise self.error(f"axis {part.id!r} has no size; pass --dim {part.id}=8", part.col_offset)
                if not _is_builtin(part.id) and not _is_bound(part, node):
                    raise self.error(f"name {part.id!r} is not defined", part.col_offset)
        code = compile(ast.Expression(node), "<--args>", "eval")
        sizes = {name: dims[name] for name in names(node) if name in dims} if dims else {}
        try:
            return eval(code, {**self.namespace, **sizes})
        except Exception as error:
            raise self.error(f"{type(error).__name__}: {error}", node.col_offset) from None

    def unreadable(self, error: SyntaxError) -> UsageError:
        opened = re.match(r"closing parenthesis '\)' does not match opening parenthesis '(.)'", error.msg)
        if opened and (error.lineno or 1) > 1:
            before = self.text[: self.text.rindex(opened[1])]
            return self.error(f"'{opened[1]}' was never closed", len(self.head) + len(before.encode()))
        characters = self.text[: max((error.offset or 1) - 1 - len(self.head), 0)] if error.lineno == 1 else self.text
        return self.error(error.msg, len(self.head) + len(characters.encode()))

    def error(self, message: str, column: int) -> UsageError:
        """An error at a column of the parsed source, in bytes as `ast` counts."""
        at = len(self.text.encode()[: max(column - len(self.head), 0)].decode(errors="ignore"))
        return UsageError(f"--args: {message} at column {at + 1}:\n  {self.text}\n  {' ' * at}^")


def _is_dtype(name: str) -> bool:
    return name == "key" or dtype_named(name) is not None


def _is_builtin(name: str) -> bool:
    return hasattr(builtins, name)


def _is_bound(name: ast.Name, within: ast.expr) -> bool:
    """Whether a lambda or a comprehension inside the expression binds the name."""
    bound = {n.id for n in ast.walk(within) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return name.id in bound | {a.arg for a in ast.walk(within) if isinstance(a, ast.arg)}

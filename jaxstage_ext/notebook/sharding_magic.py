"""`%sharding`: which device holds which slice of a live array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.report.text.bounded_repr import bounded_str

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.mesh_drawing import Sheet

_MOST = 100


@dataclass(frozen=True)
class ShownArrays:
    """Which device holds which slice, as text and, for a single array on a mesh, as a drawing."""

    text: str
    sheet: Sheet | None = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str | None:
        """The drawing of the mesh, with the lines of the text that it does not show."""
        from jaxstage_ext.report.text import markup
        from jaxstage_ext.views import mesh_map

        if self.sheet is None:
            return None
        lines = self.text.split("\n")
        said = [lines[1], *(line for line in lines[2:] if line.startswith("JAX refuses"))]
        return markup.together((mesh_map.html(self.sheet), *(markup.paragraph(markup.said(line)) for line in said)))


def shown(line: str, space: Mapping[str, Any]) -> ShownArrays:
    """What `%sharding` shows for an expression in the user's namespace. Raises UsageError."""
    if not line.strip():
        raise UsageError("%sharding needs an array, for example %sharding x")
    try:
        value = eval(line, dict(space))
    except Exception as error:
        message = error.msg if isinstance(error, SyntaxError) else bounded_str(error, 500)
        raise UsageError(f"%sharding {line.strip()}: {type(error).__name__}: {message}") from None
    return _sharding_of(value, line.strip())


def _sharding_of(value: Any, line: str) -> ShownArrays:
    import jax

    from jaxstage_ext.program.running import live_arrays

    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], jax.sharding.Sharding):
        try:
            made: Any = jax.ShapeDtypeStruct
            shape = made(tuple(map(int, value[1])), "float32", sharding=value[0])
        except Exception as error:
            message, *_ = bounded_str(error, 500).split("\n")
            raise UsageError(f"%sharding {line}: {message}") from None
        return ShownArrays(*live_arrays.described(shape, ""))
    if isinstance(value, jax.sharding.Sharding):
        raise UsageError(f"%sharding {line}: a sharding alone has no shape; write %sharding {line}, (16, 32)")
    leaves = jax.tree_util.tree_leaves_with_path(value)
    arrays = [
        (path, leaf) for path, leaf in leaves if isinstance(getattr(leaf, "sharding", None), jax.sharding.Sharding)
    ]
    if not arrays:
        raise UsageError(f"%sharding {line}: {type(value).__name__} contains no jax.Array")
    if len(arrays) == 1 and not arrays[0][0]:
        return ShownArrays(*live_arrays.described(value, line if line.isidentifier() else ""))
    named = [(line + jax.tree_util.keystr(path), leaf) for path, leaf in arrays]
    return ShownArrays(live_arrays.described_all(named))

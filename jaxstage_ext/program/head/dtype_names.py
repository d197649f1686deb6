"""JAX's short names of dtypes."""

from __future__ import annotations

from typing import Any

_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}
_TOKEN = "AbstractToken"


def short_dtype(dtype: Any) -> str:
    """JAX's short name of a dtype: "f32", "bf16", "bool", "key<fry>", and "token" for what orders effects."""
    name = str(getattr(dtype, "name", dtype))
    kind = name.rstrip("0123456789")
    if name == _TOKEN:
        return "token"
    return _SHORT[kind] + name[len(kind) :] if kind in _SHORT else name

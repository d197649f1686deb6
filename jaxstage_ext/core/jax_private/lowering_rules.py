"""Which platforms JAX can lower a primitive for. Checked with jax 0.10.2 and 0.12.0.1."""

from __future__ import annotations

from jax._src.interpreters import mlir as _mlir


def platforms_of(primitive: str) -> list[str]:
    """The platforms for which a primitive has a rule of its own, by its name."""
    rules = _mlir._platform_specific_lowerings
    return sorted(platform for platform, known in rules.items() if any(one.name == primitive for one in known))

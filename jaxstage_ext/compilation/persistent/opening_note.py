"""What is said beside the error that JAX raises where it cannot open the folder of its persistent cache."""

from __future__ import annotations

from jaxstage_ext.report.text.public_paths import public_text


def not_opened(folder: str) -> str:
    """What is said of an error that JAX raises because it cannot open the folder."""
    return (
        f"JAX cannot open its persistent compilation cache, {public_text(folder)} (jax_compilation_cache_dir), and "
        "jax_raise_persistent_cache_errors is on; without that, it compiles without the cache and warns."
    )

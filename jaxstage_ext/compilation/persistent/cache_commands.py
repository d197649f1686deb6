"""What sentences about JAX's persistent cache tell their reader to type."""

from __future__ import annotations

from jaxstage_ext.report.text.typed_forms import typed


def setting_aside() -> str:
    """What renames damaged entries."""
    return typed("%compile_cache --set-aside", "jaxstage_ext.compile_cache(set_aside=True)")

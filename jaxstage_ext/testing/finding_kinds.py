"""Kinds of findings as tests name them."""

from __future__ import annotations

from collections.abc import Iterable

from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.testing import assertion_wording as wording


def kinds_named(names: Iterable[str | FindingKind]) -> list[FindingKind]:
    """The kinds of these titles or parts of titles. Raises ValueError, with all kinds, for a name of none."""
    return [kind for name in names for kind in _named(name)]


def _named(name: str | FindingKind) -> list[FindingKind]:
    if isinstance(name, FindingKind):
        return [name]
    wanted = str(name).strip().lower().replace("_", " ").replace("-", " ")
    exact = [kind for kind in FindingKind if wanted in (kind.value, kind.name.lower().replace("_", " "))]
    alike = [kind for kind in FindingKind if wanted and wanted in kind.value]
    if not (exact or alike):
        raise ValueError(wording.no_kind(name, [kind.value for kind in FindingKind]))
    return exact or alike

"""Which findings make a command fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError

if TYPE_CHECKING:
    from jaxstage_ext.findings.finding import Finding

_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True)
class Threshold:
    """What `--fail-on` says."""

    text: str
    reaches: Callable[[Finding], bool]
    is_share: bool = False

    def unjudged(self, findings: Sequence[Finding]) -> int:
        """How many findings a share cannot judge, because theirs is unknown."""
        return sum(self.is_share and one.stake.share is None and bool(one.stake.measure.unit) for one in findings)


def threshold(text: str) -> Threshold:
    """What `--fail-on` means. Raises CommandError, with the kinds that there are."""
    from jaxstage_ext.findings.finding_kind import FindingKind

    wanted = text.strip().lower()
    if (share := _SHARE.fullmatch(wanted)) is not None:
        least = float(share[1]) / 100
        return Threshold(text, lambda one: _is_wrong(one) or (one.stake.share or -1.0) >= least, is_share=True)
    if wanted == "any":
        return Threshold(text, lambda one: True)
    kinds = [kind for kind in FindingKind if wanted in (kind.value, kind.name.lower().replace("_", "-"))]
    kinds = kinds or [kind for kind in FindingKind if wanted and wanted in kind.value]
    if not kinds:
        raise CommandError(wording.bad_threshold(text, [kind.value for kind in FindingKind]))
    return Threshold(text, lambda one: one.kind in kinds)


def _is_wrong(finding: Finding) -> bool:
    """Whether the result may not be what is meant, which no share says."""
    from jaxstage_ext.findings.finding import StakeMeasure

    return finding.stake.measure is StakeMeasure.RESULT

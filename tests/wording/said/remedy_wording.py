"""Changes that were tried against collectives."""

from wordings import constants

from jaxstage_ext.analysis.collectives import remedy_wording as wording
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind

W = wording.argument("w[1]", "P('data', None)")
SAID = {
    **constants(wording),
    "less in all ways": wording.remedy(W, 2.59e6, 22.2e-6, -1_160_000, 0.99),
    "more memory and FLOPs": wording.remedy(W, 2.59e6, 22.2e-6, 1_160_000, 8.0),
    "no time": wording.remedy(wording.WITHOUT_OUT_SPECS, 1024, 0.0, 0, None),
    **{f"not tried: {kind.name}": wording.not_removed("all-reduce", wording.no_change(kind)) for kind in CauseKind},
}

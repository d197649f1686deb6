"""What is said of exposed collectives, and of the work that could hide them."""

from __future__ import annotations

NO_GRAPH = "it is not in the module that is shown, whose graph tells what needs its result"
NOT_LOOKED_AT = "looked for among the collectives that are exposed longest only"
NO_LINE = "XLA gives no source line for it"
NO_INDEPENDENT_LINE = "XLA gives no source line for it"
NO_WORK_LINE = "there is no such work, or XLA gives no source line for it"
NOT_A_COLLECTIVE = "no collective is waited for"
UNKNOWN_LOOP = "it is unknown how often its loop runs; the times are those of one iteration"
NONE_HERE = "It has no collectives."
SHARED = (
    "A moment in which several collectives run counts for the one that ends first: together they are the exposed time."
)
INDEPENDENT = (
    "Independent work comes after the collective, in the same computation, does not need its result, and hides no "
    "collective now."
)
NONE = "none"

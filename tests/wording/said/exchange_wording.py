"""Where XLA exchanges something else than was estimated."""

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search.exchange import exchange_wording as wording
from jaxstage_ext.search.layout_result import CollectiveShare, ExchangeDifference

GATHER, REDUCE = CollectiveKind.ALL_GATHER, CollectiveKind.ALL_REDUCE


def share(
    kind: CollectiveKind, size: int, line: str = "In [3]:31", argument: str = "", count: int = 1
) -> CollectiveShare:
    return CollectiveShare(kind, ("data",), line, count, size * 1_000_000, None, argument=argument)


WEIGHTS, SUMS = share(GATHER, 64, argument="params['w']", count=3), share(REDUCE, 8, "In [3]:29")

SAID: dict[str, object] = {
    "another kind": wording.otherwise(ExchangeDifference(WEIGHTS, 0, SUMS, 0)),
    "more of one kind": wording.otherwise(ExchangeDifference(WEIGHTS, 2_000_000, None, 0)),
    "what was not estimated": wording.otherwise(ExchangeDifference(share(GATHER, 64, ""), 0, None, 0)),
    "less of one kind": wording.otherwise(ExchangeDifference(None, 0, SUMS, 1_000_000)),
    "nothing of what was estimated": wording.otherwise(ExchangeDifference(None, 0, SUMS, 0)),
    "kinds": [wording.otherwise(ExchangeDifference(share(kind, 64), 0, SUMS, 0)) for kind in CollectiveKind],
}

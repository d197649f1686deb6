"""Where XLA exchanges something else than was estimated, in one sentence."""

from __future__ import annotations

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.search.layout_result import CollectiveShare, ExchangeDifference

_VERBS = {
    CollectiveKind.ALL_REDUCE: "all-reduces {}",
    CollectiveKind.REDUCE_SCATTER: "reduce-scatters {}",
    CollectiveKind.ALL_GATHER: "gathers {}",
    CollectiveKind.ALL_TO_ALL: "exchanges {} all to all",
    CollectiveKind.PERMUTE: "sends {} to neighbours",
}


def otherwise(difference: ExchangeDifference) -> str:
    """`XLA gathers 64 MB (params['w'], f.py:3) where the estimate all-reduces 8 MB (f.py:2); bytes are per device`."""
    more, fewer = difference.more, difference.fewer
    compiled = _of(more) if more is not None else fewer and _bytes(fewer, difference.fewer_compiled)
    estimated = _of(fewer) if fewer is not None else more and _bytes(more, difference.more_estimated)
    return f"XLA {compiled} where the estimate {estimated}; bytes are per device"


def _of(share: CollectiveShare) -> str:
    where = ", ".join(filter(None, (share.argument, share.line)))
    mostly = "mostly " if share.count > 1 else ""
    return f"{_bytes(share, share.bytes)}{f' ({mostly}{where})' if where else ''}"


def _bytes(share: CollectiveShare, size: int) -> str:
    return _VERBS[share.kind].format(scaled(size, "B") if size else "nothing")

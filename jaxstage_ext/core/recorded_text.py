"""The text of a module that a profile from elsewhere holds, printed where a damaged one does no harm."""

from __future__ import annotations

from jaxstage_ext.report.unavailable import Unavailable

_TIMEOUT = 60.0


def text_of_foreign(proto: bytes) -> str:
    """The text of a serialised HloModuleProto, by a worker: XLA aborts the process for some that are damaged.

    Raises Unavailable where it cannot be printed, with the reason.
    """
    from jaxstage_ext.worker import pool  # it needs Unix

    try:
        return str(pool.ask("cpu", {"method": "module_text", "proto": proto}, _TIMEOUT))
    except (pool.WorkerDied, pool.RequestFailed) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise Unavailable(f"the HLO in the profile cannot be printed, as where it is damaged: {why}") from None

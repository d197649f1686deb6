"""XLA_FLAGS that XLA does not survive, found before this process hands them to it.

XLA reads the variable when it is first used, and ends the process where it does not know a flag or its value.
"""

from __future__ import annotations

import os
import re

import jax

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.targets.target import MOST_CPUS
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.worker.request_errors import RequestFailed, WorkerDied

_FLAGS, _LONGEST = "XLA_FLAGS", 120
_READ_LATE = "xla_backend_extra_options"
"""LLVM's options, which are read with the first compile."""
_COUNT = re.compile(r"--xla_force_host_platform_device_count=(\d+)")
_REASON = re.compile(
    r"Unknown flags? in XLA_FLAGS: .*|Could not open file .{0,1000}?(?= to read)"
    r"|Unknown command line argument .{0,1000}?(?=\.  Try)"
)
_accepted: set[str] = set()


class EnvironmentRefused(DeliberateError, ValueError):
    """The environment would end or stall this process; the message is one line."""


def check() -> None:
    """Raise EnvironmentRefused where XLA would not survive what it is about to read.

    Flags that XLA has read already are not its concern. Others are tried in a compile worker, once.
    """
    started, flags = jax_options.backends_exist(), os.environ.get(_FLAGS)
    if not started:
        _check_count("jax_num_cpu_devices", jax.config.jax_num_cpu_devices)
    if not flags or flags in _accepted or (started and _READ_LATE not in flags):
        return
    for count in _COUNT.findall(flags):
        _check_count(f"--xla_force_host_platform_device_count in {_FLAGS}", int(count))
    _try(flags)
    _accepted.add(flags)


def _check_count(name: str, count: int) -> None:
    if count > MOST_CPUS:
        raise EnvironmentRefused(
            f"{name} is {count:,}, but {MOST_CPUS:,} virtual devices are the most that can be used"
        )


def _try(flags: str) -> None:
    from jaxstage_ext.worker import pool  # it needs Unix

    try:
        pool.ask("cpu", {"method": "try_flags"}, timeout=60)
    except RequestFailed:
        return  # XLA's error, which it survived
    except WorkerDied as died:
        if died.cause not in ("signal", "exit"):
            return
        raise EnvironmentRefused(
            f"XLA does not survive {_FLAGS}={_short(flags)}: {_reason(died.log)}; correct os.environ[{_FLAGS!r}]"
        ) from None


def _reason(log: str) -> str:
    found = _REASON.search(log)
    return _short(found[0].strip(), quoted=False) if found else "a flag has a value that it cannot take"


def _short(text: str, quoted: bool = True) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return repr(cut) if quoted else cut

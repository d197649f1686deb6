"""Damaged entries of the persistent cache: they are reported, and set aside where the user wants that."""

from __future__ import annotations

import os

from jaxstage_ext.compilation.persistent import flag_watch
from jaxstage_ext.compilation.persistent.cache_commands import setting_aside
from jaxstage_ext.compilation.persistent.entry_check import EntryCheck, Version
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.kernel_settings import DamagedPolicy
from jaxstage_ext.report.text.public_paths import public_folders

ASIDE = ".damaged"
"""What is added to the name of an entry that is set aside: JAX then compiles its program and writes it anew."""


class _Reports:
    """The damaged files that were reported."""

    def __init__(self) -> None:
        self.made: set[tuple[str, Version]] = set()


_reports = _Reports()


def set_aside(path: str) -> str:
    """Rename an entry so that JAX does not read it; gives the new name. Raises OSError."""
    os.replace(path, path + ASIDE)
    return path + ASIDE


def handle(path: str, version: Version, check: EntryCheck) -> bool:
    """Report a damaged entry, once, or set it aside; whether it was set aside."""
    if kernel_settings.now().damaged_entries is DamagedPolicy.SET_ASIDE:
        return _set_aside_now(path, check)
    if (path, version) not in _reports.made:
        _reports.made.add((path, version))
        flag_watch.warn(public_folders(warning(path, check)))
    return False


def _set_aside_now(path: str, check: EntryCheck) -> bool:
    try:
        new = set_aside(path)
    except OSError as error:
        flag_watch.warn(f"{public_folders(warning(path, check))} It could not be set aside: {error.strerror or error}.")
        return False
    flag_watch.warn(
        f"JAX's persistent cache: the entry {os.path.basename(path)} {_found(check)}; it was set aside as "
        f"{public_folders(new)}, and JAX compiles its program again."
    )
    return True


def warning(path: str, check: EntryCheck) -> str:
    """What is wrong with an entry and what to do, in one line."""
    return (
        f"JAX's persistent cache: the entry {path} {_found(check)}. Loading it can crash the kernel or give wrong "
        f"values. {setting_aside()} renames it, and JAX then compiles its program again."
    )


def _found(check: EntryCheck) -> str:
    if check is EntryCheck.DAMAGED:
        return "is damaged"
    return "is not what was written first: it is damaged, or a process without JAXStage compiled it again"

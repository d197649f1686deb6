"""The compile options that XLA is given for a program, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from jaxstage_ext.compilation.records.compile_record import Entry
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.core.options import received_options as received
from jaxstage_ext.core.options import xla_flags
from jaxstage_ext.core.options.received_options import Basis, OptionOrigin, ReceivedOption
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.unavailable import Unavailable

_REST = (
    "All other options have XLA's defaults; those that describe the program's devices are not listed, nor is what JAX "
    "sets by itself for other backends."
)
_UNRECORDED = (
    "What jax.config set is unknown: JAX had compiled the program before JAXStage listened, and an executable does not "
    "say its options. jax.clear_caches() makes JAX compile it again."
)
_NOTES = {
    Basis.RECORDED: (_REST,),
    Basis.EXPECTED: ("The program is not compiled: this is what JAX would give XLA now.", _REST),
    Basis.UNKNOWN: (_UNRECORDED,),
}
_NO_DEFAULT = "this jaxlib does not say it"
_OF_VARIABLE = "XLA_FLAGS changed it in this process"
_EMPTY = "(empty)"


@fact
def options(program: Program) -> Table:
    """The options that XLA was given and that differ from its defaults, and what set each.

    Raises Unavailable where nothing was lowered.
    """
    by = OptionOrigin.CALL
    if program.record is not None:
        if program.staged.received is None:
            raise Unavailable(f"the log keeps no compile options of {program.name} any more")
        by = OptionOrigin.CALL if program.record.entry is Entry.AOT else OptionOrigin.JIT
    elif program.jax_lowered is None:
        raise Unavailable(f"{program.name} was not lowered by JAX, so its compile options are unknown")
    rows = received.received(program.staged, platform(program), by)
    columns = {
        "option": Column([row.name for row in rows]),
        "value": Column([row.value for row in rows]),
        "default": Column([_EMPTY if row.default == "" else row.default for row in rows], doc="XLA's"),
        "from": Column(
            [row.origin.value for row in rows], doc="where it comes from; what is above hides what is below"
        ),
        "set by": Column([row.setter for row in rows]),
        "note": Column([row.note for row in rows]),
    }
    unknown = {(at, "default"): _why(row) for at, row in enumerate(rows) if row.default is None}
    return Table("options", columns, unknown, (*_NOTES[received.basis(program.staged)], *_fingerprint(program)))


def _fingerprint(program: Program) -> Iterator[str]:
    """XLA's own identity of the executable, which equal executables share."""
    if known := xla_executables.fingerprint(program.executable):
        yield f"XLA's fingerprint of the executable: {known}."


def _why(row: ReceivedOption) -> str:
    return _OF_VARIABLE if row.name in xla_flags.installed().by_name else _NO_DEFAULT

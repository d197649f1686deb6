"""The counted calls of jitted functions."""

from compile_records import compile_record, function_identity

from jaxstage_ext.compilation.records.compile_record import CompileRecord, Place
from jaxstage_ext.notebook.cells.call_count_notes import call_notes
from jaxstage_ext.notebook.cells.call_counts import CallCounts

SITE = Place("<cell>", 2, "<module>", cell=3)


def step(x: object) -> object:
    return x


def missed(**changes: object) -> CompileRecord:
    return compile_record(function=function_identity(step), call_site=SITE, **changes)


class Jitted:
    """Stands for the jitted function."""

    __wrapped__ = staticmethod(step)
    __name__ = "step"


def counts(calls: int, functions: int = 1) -> CallCounts:
    made = [Jitted() for _ in range(functions)]
    return CallCounts(dict(enumerate(made)), dict.fromkeys(range(functions), calls))


SAID = {
    "no call": call_notes(CallCounts(), (), ()),
    "one call, served": call_notes(counts(1), (), ()),
    "1,000 calls, 2 not served": call_notes(counts(1000), [missed(), missed()], ()),
    "with effects": call_notes(counts(3), (), [missed(effects=("debug.print", "io_callback"))]),
    "14 functions": call_notes(counts(3, 14), (), ())[-1],
}

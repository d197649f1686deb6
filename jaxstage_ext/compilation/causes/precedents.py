"""For each record the earlier ones that it can be compared with: those of the same function, the newest few."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from jaxstage_ext.compilation.records.code_content import content
from jaxstage_ext.compilation.records.compile_record import CompileRecord, Entry, KeptValue, StageName

MOST_COMPARED: Final = 32
"""Earlier records of a function that one is compared with."""
LAMBDA = "<lambda>"
_BOUND: Final = ("partial", "method", "object")


class Precedents:
    """Records by the function's name, so that finding a cause does not read the whole log."""

    def __init__(self, records: Iterable[CompileRecord]) -> None:
        self._by_name: dict[tuple[object, ...], list[CompileRecord]] = {}
        for record in records:
            self._by_name.setdefault(_name(record), []).append(record)
        self._first_of_program: dict[tuple[object, ...], CompileRecord] = {}
        for name, same in self._by_name.items():
            same.sort(key=_number)
            for record in same:
                if key := _program_key(record):
                    self._first_of_program.setdefault((name, key), record)

    def of(self, record: CompileRecord) -> list[CompileRecord]:
        """The newest earlier records of the function of that name, oldest first."""
        same = self._by_name.get(_name(record), [])
        end = bisect_left(same, record.number, key=_number)
        return same[max(0, end - MOST_COMPARED) : end]

    def same_program(self, record: CompileRecord) -> CompileRecord | None:
        """The first record of the function, among all earlier ones, whose program has the same cache key."""
        if not (key := _program_key(record)):
            return None
        first = self._first_of_program.get((_name(record), key))
        return first if first is not None and first.number < record.number else None


def _program_key(record: CompileRecord) -> str:
    """The persistent cache's key of what was compiled, which JAX makes without a folder too; "" where there is none."""
    compiled = record.stage(StageName.COMPILE)
    if record.failed or record.persistent is None or compiled is None or compiled.failed:
        return ""
    return record.persistent.key


def _number(record: CompileRecord) -> int:
    return record.number


def _name(record: CompileRecord) -> tuple[object, ...]:
    function = record.function
    if function is None or record.entry in (Entry.EAGER, Entry.INNER):
        return record.asker, record.entry, record.name, function is None
    layers = ((layer, _options(given)) for layer, given in function.layers_with_options if makes_another(layer))
    return *function_key(record), *layers


def makes_another(layer: str) -> bool:
    """Whether a layer makes another function of the one inside it: a partial, a bound object, a transformation."""
    return layer in _BOUND or (layer.startswith("jax.") and layer != "jax.jit")


def _options(given: Iterable[KeptValue]) -> tuple[object, ...]:
    return tuple((value.name, type(value.value), value.value) for value in given)


def function_key(record: CompileRecord) -> tuple[object, ...]:
    """What records of one function have in common; lambdas of one name are told apart by what they do."""
    function = record.function
    if function is None:
        return record.asker, record.name
    if function.qualname.rpartition(".")[2] == LAMBDA:
        return record.asker, "lambda", function.module, function.qualname, _lambda(record)
    return record.asker, "named", function.module, function.qualname


def _lambda(record: CompileRecord) -> object:
    """What tells lambdas of one name apart: their code, which is equal when a cell runs again."""
    code = record.function.code if record.function else None
    return None if code is None else content(code)

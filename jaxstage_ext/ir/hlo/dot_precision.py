"""How precisely dots, convolutions and the products of libraries are computed.

PrecisionConfig (xla_data.proto): field 51 of an instruction, and "precision_config" in the configuration of cuBLAS and
cuDNN calls.
"""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.protowire import Longs

_CONFIG, _BACKEND = 51, 43
_OPERANDS, _ALGORITHM = 1, 2
_ALGORITHMS = (
    "", "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16",
    "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32",
    "F64_F64_F64", "BF16_BF16_F32_X9", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM",
)  # fmt: skip
"""Names of jax.lax.DotAlgorithmPreset by the numbers of PrecisionConfig.Algorithm."""


class Level(IntEnum):
    """jax.lax.Precision."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


class DotPrecision(NamedTuple):
    """The highest precision of the operands, and the algorithm that was asked for, "" for none."""

    level: Level = Level.DEFAULT
    algorithm: str = ""


def read(ops: Module, rows: Longs) -> list[DotPrecision]:
    """Of dots and convolutions."""
    message = ops.fields(rows, _CONFIG)[_CONFIG]
    parts = ops.inside(message, _OPERANDS, _ALGORITHM)
    levels = ops.lists(parts[_OPERANDS], len(message.row))
    algorithm = np.zeros(len(message.row), np.int64)
    algorithm[parts[_ALGORITHM].row] = parts[_ALGORITHM].value
    result = [DotPrecision()] * len(rows)
    for place, row in enumerate(message.row.tolist()):
        result[row] = DotPrecision(_highest(levels[place]), _named(int(algorithm[place])))
    return result


def of_calls(ops: Module, rows: Longs) -> list[DotPrecision]:
    """Of custom calls to a library's products and convolutions."""
    return [_of_config(config) for config in ops.strings(ops.fields(rows, _BACKEND)[_BACKEND], len(rows))]


def _of_config(text: bytes) -> DotPrecision:
    try:
        config: Any = json.loads(text)
        given = next(value for value in (config, *config.values()) if "precision_config" in value)["precision_config"]
        levels = [Level[name].value for name in given.get("operand_precision", ())]
        return DotPrecision(_highest(levels), _preset(str(given.get("algorithm", ""))))
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        return DotPrecision()


def _preset(name: str) -> str:
    return name.removeprefix("ALG_DOT_") if name.startswith("ALG_DOT_") else ""


def _highest(levels: list[int]) -> Level:
    return Level(min(max(levels, default=0), Level.HIGHEST))


def _named(number: int) -> str:
    return _ALGORITHMS[number] if number < len(_ALGORITHMS) else f"algorithm {number}"

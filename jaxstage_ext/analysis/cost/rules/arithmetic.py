"""Which unit of a device computes what: products in the matrix unit in some passes, all else in the vector unit.

TPU: f32 by one, three or six bf16 passes is `jax.lax.Precision`; the passes of other dtypes are those of the cycles
that libtpu estimates for products of 4096 x 4096 matrices, the same from v3 to TPU7x. GPU: `jax.lax.Precision` and
`jax.lax.DotAlgorithmPreset`, as the PTX of such products shows. cuBLAS takes complex products as real ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import dot_precision
from jaxstage_ext.ir.hlo.dot_precision import DotPrecision, Level
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.shapes import TYPES
from jaxstage_ext.ir.wire.protowire import Longs


class UnitKind(StrEnum):
    """The part of a device that computes; FUNCTION is the vector unit where it computes a transcendental function."""

    MATRIX = "matrix"
    VECTOR = "vector"
    FUNCTION = "function"


class Unit(NamedTuple):
    """What computes an operation."""

    kind: UnitKind
    dtype: str
    """In which it computes, "" where that is unknown."""
    passes: int = 1
    """How often it computes each product."""
    hardness: int = 0
    """Of a transcendental function, how many vector operations it takes: 0 few, 1 more, 2 many."""

    def __str__(self) -> str:
        if not self.dtype:
            return ""
        passes = f" x{self.passes}" if self.passes > 1 else ""
        return f"{self.dtype} {UnitKind.MATRIX if self.kind is UnitKind.MATRIX else UnitKind.VECTOR}{passes}"


_LIBRARY = (b"custom-call",)
_PRODUCTS = (b"dot", b"convolution")
_COMPARED = (b"compare", b"is-finite", b"convert")
_HARD = (b"sine", b"cosine", b"tan")
_HARDER = (b"erf", b"power", b"atan2", b"acos", b"acosh", b"asin", b"asinh", b"atanh", b"cosh", b"sinh", b"rng",
           b"rng-bit-generator", b"cbrt")  # fmt: skip
_TPU_PASSES = {
    "f32": (1, 3, 6), "f16": (1, 3, 3), "bf16": (1, 1, 1), "s32": (10,) * 3, "u32": (10,) * 3, "s16": (3,) * 3,
    "u16": (3,) * 3,
}  # fmt: skip
"""bf16 passes of a product on a TPU at DEFAULT, HIGH and HIGHEST precision."""
_BYTES, _NIBBLES = ("s8", "u8", "pred"), ("s4", "u4", "s2", "u2")
_ALGORITHMS = {
    "F16_F16_F16": ("f16", 1), "F16_F16_F32": ("f16", 1), "BF16_BF16_BF16": ("bf16", 1), "BF16_BF16_F32": ("bf16", 1),
    "BF16_BF16_F32_X3": ("bf16", 3), "BF16_BF16_F32_X6": ("bf16", 6), "BF16_BF16_F32_X9": ("bf16", 9),
    "TF32_TF32_F32": ("tf32", 1), "TF32_TF32_F32_X3": ("tf32", 3), "F64_F64_F64": ("f64", 1),
}  # fmt: skip
_F32 = Unit(UnitKind.VECTOR, "f32")
_OF_PARTS = {"c64": "f32", "c128": "f64"}
_FUSION_KIND = 11
_INTEGERS = ("pred", "s1", "u1", "s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")


def units(ops: Module, rows: Longs, platform: str) -> Iterator[tuple[int, Unit]]:
    """(instruction, the unit that computes it) of instructions that are not fusions; `platform` as in roofline."""
    products = dict(_products(ops, np.intersect1d(rows, ops.rows(*_PRODUCTS, *_LIBRARY)), platform))
    yield from products.items()
    for row in rows.tolist():
        if row not in products:
            unclear = platform == "tpu" and ops.opcode[row] == b"fft"
            yield row, Unit(UnitKind.VECTOR, "" if unclear else vector_dtype(_dtype(ops, row)))


def functions(ops: Module, rows: Longs) -> Iterator[tuple[int, Unit]]:
    """(instruction, the unit that computes its transcendental functions)."""
    for row in rows.tolist():
        opcode = ops.opcode[row]
        hardness = 2 if opcode in _HARD else 1 if opcode in _HARDER else 0
        yield row, Unit(UnitKind.FUNCTION, vector_dtype(_dtype(ops, row)), hardness=hardness)


def _dtype(ops: Module, row: int) -> str:
    """In what an instruction computes: that of the operand of comparisons, conversions and those of several results."""
    kind, operand = int(ops.shapes.element_type[row]), (*ops.operands[row], -1)[0]
    by_operand = ops.opcode[row] in _COMPARED or kind not in TYPES
    return _named(int(ops.shapes.element_type[operand]) if by_operand and operand >= 0 else kind)


def vector_dtype(dtype: str) -> str:
    """The dtype in which a vector unit computes another one: all integers as s32, complex numbers as their parts."""
    if dtype in _INTEGERS:
        return "s32"
    return "f16" if dtype.startswith("f8") else _OF_PARTS.get(dtype, dtype)


def _products(ops: Module, rows: Longs, platform: str) -> Iterator[tuple[int, Unit]]:
    """Dots, convolutions and custom calls, each by the dtype of its first operand."""
    by_library = np.isin(ops.opcode[rows], _LIBRARY)
    in_matrix_unit = by_library | (platform != "cuda") | _in_custom_fusion(ops, rows)
    for own, read in ((~by_library, dot_precision.read), (by_library, dot_precision.of_calls)):
        for row, precision, is_matrix in zip(
            rows[own].tolist(), read(ops, rows[own]), in_matrix_unit[own], strict=True
        ):
            operand = (*ops.operands[row], -1)[0]
            dtype = _named(int(ops.shapes.element_type[operand if operand >= 0 else row]))
            yield row, product(dtype, precision, platform) if is_matrix else Unit(UnitKind.VECTOR, vector_dtype(dtype))


def _in_custom_fusion(ops: Module, rows: Longs) -> npt.NDArray[np.bool_]:
    """Whether each instruction is in a custom fusion, which on a GPU Triton or cuDNN compiles; others are loops."""
    callers = ops.rows(b"fusion")
    kinds = ops.strings(ops.fields(callers, _FUSION_KIND)[_FUSION_KIND], len(callers))
    custom = callers[np.array([kind == b"kCustom" for kind in kinds], bool)]
    return np.isin(ops.computation[rows], ops.called.at(0)[custom])


def product(dtype: str, precision: DotPrecision, platform: str) -> Unit:
    """What computes a product of this dtype."""
    if platform == "tpu":
        return _tpu(dtype, precision.level)
    if platform == "cuda":
        return _gpu(_OF_PARTS.get(dtype, dtype), precision)
    return _cpu(_OF_PARTS.get(dtype, dtype))


def _tpu(dtype: str, level: Level) -> Unit:
    if dtype in _TPU_PASSES:
        return Unit(UnitKind.MATRIX, "bf16", _TPU_PASSES[dtype][level])
    if dtype.startswith("f8"):
        return Unit(UnitKind.MATRIX, dtype)
    return Unit(UnitKind.MATRIX, "s8" if dtype in _BYTES else "s4" if dtype in _NIBBLES else dtype)


def _gpu(dtype: str, precision: DotPrecision) -> Unit:
    if precision.algorithm in _ALGORITHMS:
        return Unit(UnitKind.MATRIX, *_ALGORITHMS[precision.algorithm])
    if dtype == "f32":
        is_full = precision.level is Level.HIGHEST or precision.algorithm == "F32_F32_F32"
        return _F32 if is_full else Unit(UnitKind.MATRIX, "tf32")
    if dtype.startswith("f8"):
        return Unit(UnitKind.MATRIX, "f8")
    if dtype in ("s8", "u8"):
        return Unit(UnitKind.MATRIX, "s8")
    return Unit(UnitKind.VECTOR, "s32") if dtype in _INTEGERS else Unit(UnitKind.MATRIX, dtype)


def _cpu(dtype: str) -> Unit:
    """A CPU has no matrix unit; the peak of its products is that of its vector units with all lanes and FMAs busy."""
    if dtype in ("s8", "u8"):
        return Unit(UnitKind.MATRIX, "s8")
    return Unit(UnitKind.VECTOR, "s32") if dtype in _INTEGERS else Unit(UnitKind.MATRIX, dtype)


def _named(kind: int) -> str:
    return TYPES[kind][0] if kind in TYPES else ""

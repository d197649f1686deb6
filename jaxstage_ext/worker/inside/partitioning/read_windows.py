"""Operations that read beyond their own shard along a dimension that is split: convolutions, pooling, slices, padding.

Along such a dimension result i reads what starts at `stride * i - low`, `extent` long, in steps of the operand that
`dilation` spreads out.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Window(NamedTuple):
    """How an operation reads one dimension of one operand."""

    operand: int
    dimension: int
    result: int
    """The dimension of the result."""
    extent: int
    stride: int
    low: int
    """The padding below, negative of a slice that starts later."""
    dilation: int = 1
    kernel: int | None = None
    """The dimension of the second operand, a convolution's kernel, that it slides over."""


def windows(operation: Any, shapes: list[tuple[int, ...]]) -> list[Window]:
    """The windows of an operation; `shapes` are of its operands, then of its results."""
    read = _READERS.get(operation.name)
    return [] if read is None else read(operation, shapes)


def _convolution(operation: Any, shapes: list[tuple[int, ...]]) -> list[Window]:
    from jaxlib.mlir.dialects import stablehlo

    numbers = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    places = list(
        zip(numbers.input_spatial_dimensions, numbers.kernel_spatial_dimensions, numbers.output_spatial_dimensions,
            strict=True)
    )  # fmt: skip
    count = len(places)
    strides, spread, inner = (
        _longs(operation, name, [1] * count) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    low = _padding(operation, count)
    return [
        Window(0, taken, given, (shapes[1][kernel] - 1) * inner[at] + 1, strides[at], low[at], spread[at], kernel)
        for at, (taken, kernel, given) in enumerate(places)
    ]


def _reduce_window(operation: Any, shapes: list[tuple[int, ...]]) -> list[Window]:
    rank = len(shapes[0])
    sizes, strides, spread, inner = (
        _longs(operation, name, [1] * rank)
        for name in ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    )
    low = _padding(operation, rank)
    return [Window(0, at, at, (sizes[at] - 1) * inner[at] + 1, strides[at], low[at], spread[at]) for at in range(rank)]


def _slice(operation: Any, shapes: list[tuple[int, ...]]) -> list[Window]:
    starts, strides = (_longs(operation, name, [0] * len(shapes[0])) for name in ("start_indices", "strides"))
    return [Window(0, at, at, 1, strides[at], -start) for at, start in enumerate(starts)]


def _pad(operation: Any, shapes: list[tuple[int, ...]]) -> list[Window]:
    low, inner = (_longs(operation, name, []) for name in ("edge_padding_low", "interior_padding"))
    return [Window(0, at, at, 1, 1, before, inner[at] + 1) for at, before in enumerate(low)]


def _concatenate(operation: Any, shapes: list[tuple[int, ...]]) -> list[Window]:
    from jaxlib.mlir import ir

    at, before, found = int(ir.IntegerAttr(operation.attributes["dimension"]).value), 0, []
    for place, shape in enumerate(shapes[:-1]):
        found.append(Window(place, at, at, 1, 1, before))
        before += shape[at]
    return found


_READERS = {
    "stablehlo.convolution": _convolution,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.slice": _slice,
    "stablehlo.pad": _pad,
    "stablehlo.concatenate": _concatenate,
}


def _longs(operation: Any, name: str, default: list[int]) -> list[int]:
    return [int(each) for each in operation.attributes[name]] if name in operation.attributes else default


def _padding(operation: Any, count: int) -> list[int]:
    """The padding below each dimension."""
    if "padding" not in operation.attributes:
        return [0] * count
    flat: Any = operation.attributes["padding"]
    return [int(flat[2 * at]) for at in range(count)]


def exchanged(window: Window, taken: int, given: int, parts: int, whole_kernel: bool) -> tuple[int, int]:
    """The most rows of an operand that a device gets from those before it and from those behind it.

    `taken` and `given` are the sizes of the dimension in operand and result, split in `parts`. Where the kernel is
    split along with the operand, not `whole_kernel`, each device adds its part of every result.
    """
    own, made = -(-taken // parts), -(-given // parts)
    if not whole_kernel:
        rows = (max(window.low, 0), max((given - 1) * window.stride - window.low, 0))
        return min(rows[0], own * (parts - 1)), min(rows[1], own * (parts - 1))
    before = behind = 0
    for at in range(parts):
        first = at * made * window.stride - window.low
        last = (min((at + 1) * made, given) - 1) * window.stride - window.low + window.extent
        start, end = max(-(-first // window.dilation), 0), min(-(-last // window.dilation), taken)
        if end > start:
            before = max(before, min(at * own, end) - start)
            behind = max(behind, end - max(min((at + 1) * own, taken), start))
    return before, behind


def reversed_dimensions(operation: Any) -> tuple[int, ...]:
    """The dimensions that a reversal turns round; () of another operation."""
    return tuple(_longs(operation, "dimensions", [])) if operation.name == "stablehlo.reverse" else ()

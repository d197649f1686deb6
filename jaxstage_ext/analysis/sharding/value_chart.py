"""A value on its mesh as a plotly figure, coloured by the slice that each device holds."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import Mesh
from jaxstage_ext.analysis.sharding.mesh_drawing import mesh_of, parts_of, texts_of
from jaxstage_ext.analysis.sharding.sharded_values import ShardedValue
from jaxstage_ext.ir.wire.protowire import Longs

MOST_SHEETS = 64
"""Most positions of the slider; a larger mesh is shown in part."""


def figure(value: ShardedValue, places: Sequence[DevicePlace] = ()) -> Any:
    """A `plotly.graph_objects.Figure`: two mesh axes as a grid, a slider for the axes beyond.

    Raises BadSharding where it is unknown which device holds what.
    """
    try:
        from jaxstage_ext.analysis.described_chart import DescribedFigure
        from jaxstage_ext.analysis.described_chart import graph_objects as go
    except ImportError:
        raise ImportError("a figure needs plotly: pip install plotly") from None
    mesh = mesh_of(value)
    part, text = parts_of(value), texts_of(value)
    every = list(_sheets(mesh))
    sheets = every[:MOST_SHEETS]
    made = DescribedFigure(layout={"title": {"text": _title(value, len(every))}, "template": "plotly_white"})
    for place, (_, grid) in enumerate(sheets):
        hover = np.vectorize(lambda number: html.escape(f"{_named(number, places)}: {text[number]}"))(grid)
        made.add_trace(
            go.Heatmap(
                z=np.vectorize(part.__getitem__)(grid),
                text=np.vectorize(text.__getitem__)(grid),
                hovertext=hover,
                hoverinfo="text",
                texttemplate="%{text}" if grid.size <= 256 else None,
                showscale=False,
                colorscale="Viridis",
                zmin=0,
                zmax=max(max(part.values()), 1),
                visible=place == 0,
            )
        )
    names = [html.escape(name) for name in mesh.names]
    height, width = sheets[0][1].shape
    made.update_xaxes(title=names[1] if len(names) > 1 else names[0] if names else "", dtick=_step(width))
    made.update_yaxes(title=names[0] if len(names) > 1 else "", dtick=_step(height), autorange="reversed")
    if len(sheets) > 1:
        made.update_layout(sliders=[_slider([title for title, _ in sheets])])
    return made


def _title(value: ShardedValue, sheets: int) -> str:
    whole = wording.array(value.map.dtype, value.map.shape)
    parts = [whole, wording.per_device(value.map), wording.copies(value.map), wording.uneven(value.map)]
    parts += [f"the first {MOST_SHEETS} of {sheets:,} positions of the slider"] if sheets > MOST_SHEETS else []
    facts = html.escape(", ".join(filter(None, parts)))
    return f"{html.escape(f'{value.name} {value.map.sharding.shown}')}<br><sup>{facts}</sup>"


def _step(size: int) -> int:
    return max(1, size // 16)


def _sheets(mesh: Mesh) -> Iterator[tuple[str, Longs]]:
    """The grids of the first two axes, one per index of the others."""
    array: Any = mesh.array
    if array.ndim < 2:
        yield "", array.reshape(1, -1)
        return
    for index in itertools.product(*map(range, array.shape[2:])):
        title = ", ".join(f"{name}={i}" for name, i in zip(mesh.names[2:], index, strict=True))
        yield title, array[(slice(None), slice(None), *index)]


def _named(number: int, places: Sequence[DevicePlace]) -> str:
    return str(places[number]) if number < len(places) else f"device {number}"


def _slider(titles: Sequence[str]) -> dict[str, Any]:
    def visible(place: int) -> list[bool]:
        return [other == place for other in range(len(titles))]

    steps = [
        {"label": html.escape(title), "method": "update", "args": [{"visible": visible(place)}]}
        for place, title in enumerate(titles)
    ]
    return {"steps": steps, "active": 0}

"""A value on its devices as a plotly figure: the mesh, coloured by the slice that each device holds."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.analysis.mesh import Mesh
from jaxstage_ext.analysis.sharding_words import spelled
from jaxstage_ext.analysis.shardings import Place, Value
from jaxstage_ext.ir.protowire import Longs

MOST_SHEETS = 64
"""Positions of the slider; meshes of more are shown in part."""


def figure(value: Value, places: Sequence[Place] = ()) -> Any:
    """A `plotly.graph_objects.Figure`: two mesh axes as a grid, a slider for the axes beyond.

    Raises BadSharding where it is not known which device holds what.
    """
    import plotly.graph_objects as go

    mesh = mesh_of(value)
    part, text = _parts(value), _texts(value)
    sheets = list(_sheets(mesh))[:MOST_SHEETS]
    made = go.Figure(layout={"title": {"text": html.escape(f"{value.name} {value.map.sharding.spec}")}})
    for place, (_, grid) in enumerate(sheets):
        told = np.vectorize(lambda number: html.escape(f"{_named(number, places)}: {text[number]}"))(grid)
        made.add_trace(
            go.Heatmap(
                z=np.vectorize(part.__getitem__)(grid),
                text=np.vectorize(text.__getitem__)(grid),
                hovertext=told,
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
    made.update_xaxes(title=names[1] if len(names) > 1 else names[0] if names else "", dtick=1)
    made.update_yaxes(title=names[0] if len(names) > 1 else "", dtick=1, autorange="reversed")
    if len(sheets) > 1:
        made.update_layout(sliders=[_slider([title for title, _ in sheets])])
    return made


def mesh_of(value: Value) -> Mesh:
    """The mesh that a value lies on; a near-square one of its devices where it names none."""
    if value.map.sharding.mesh is not None and value.map.sharding.mesh.names:
        return value.map.sharding.mesh
    devices = value.map.numbers.tolist()
    rows = next(rows for rows in range(math.isqrt(len(devices)), 0, -1) if len(devices) % rows == 0)
    return Mesh(("", "device"), (rows, len(devices) // rows), tuple(devices))


def _parts(value: Value) -> dict[int, int]:
    """Per device the number of the part that it holds."""
    parts = value.map.sharding.holders.reshape(-1, value.map.sharding.holders.shape[-1])
    return {int(device): number for number, devices in enumerate(parts) for device in devices}


def _texts(value: Value) -> dict[int, str]:
    return {
        int(number): spelled(bounds.tolist())
        for number, bounds in zip(value.map.numbers, value.map.bounds, strict=True)
    }


def _sheets(mesh: Mesh) -> Iterator[tuple[str, Longs]]:
    """The grids of the first two axes, one for each place on the others."""
    array: Any = mesh.array
    if array.ndim < 2:
        yield "", array.reshape(1, -1)
        return
    for index in itertools.product(*map(range, array.shape[2:])):
        title = ", ".join(f"{name}={i}" for name, i in zip(mesh.names[2:], index, strict=True))
        yield title, array[(slice(None), slice(None), *index)]


def _named(number: int, places: Sequence[Place]) -> str:
    return str(places[number]) if number < len(places) else f"device {number}"


def _slider(titles: Sequence[str]) -> dict[str, Any]:
    def visible(place: int) -> list[bool]:
        return [other == place for other in range(len(titles))]

    steps = [
        {"label": html.escape(title), "method": "update", "args": [{"visible": visible(place)}]}
        for place, title in enumerate(titles)
    ]
    return {"steps": steps, "active": 0}

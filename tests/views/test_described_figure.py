"""A figure in a notebook that is converted, where nothing draws plotly's own form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import plotly.io as pio
import pytest
from IPython.display import display
from IPython.utils.capture import capture_output
from made_costs import Device, Instruction, cost
from magic_shell import fresh_shell

from jaxstage_ext.analysis.cost import roofline
from jaxstage_ext.views.charts import figures

PLOTLY = "application/vnd.plotly.v1+json"


@pytest.fixture(autouse=True)
def as_in_a_notebook() -> Iterator[None]:
    usual, pio.renderers.default = pio.renderers.default, "plotly_mimetype"
    with fresh_shell():
        yield
    pio.renderers.default = usual


def displayed() -> dict[str, Any]:
    figure = figures.roofline(roofline.read(cost(Instruction("<dot>", "dot", 1000, 40)), Device(), "cpu"))
    figure.update_layout(title_text="<b>Bound by &lt;dot&gt;</b><br>of step")
    with capture_output() as captured:
        display(figure)
    (output,) = captured.outputs
    bundle: dict[str, Any] = output.data
    return bundle


def test_a_converted_notebook_says_which_figure_stood_there() -> None:
    import nbformat
    from nbconvert import HTMLExporter

    output = nbformat.v4.new_output("display_data", displayed())
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("figure", outputs=[output])])
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert "Bound by &lt;dot&gt;" in page
    assert "write_html" in page


def test_where_plotly_is_drawn_the_figure_is_there() -> None:
    bundle = displayed()
    assert [trace["name"] for trace in bundle[PLOTLY]["data"]][-1] == "bound by compute"
    assert "<b>" not in bundle["text/plain"]
    assert "&" not in bundle["text/plain"]


def test_another_renderer_of_plotlys_is_left_as_it_is() -> None:
    pio.renderers.default = "plotly_mimetype+json"
    assert "text/html" not in displayed()

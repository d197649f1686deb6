"""A notebook that is saved before the kernel knows of the extension holds no widget that a reader cannot find."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.browser.saved_payloads import PAYLOAD, drawn, payload, show, whole_report

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.servers import Server

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
ADD = """([type, data]) => {
    const outputs = window.jupyterapp.shell.currentWidget.content.widgets[0].model.outputs;
    const view = { version_major: 2, version_minor: 0, model_id: "gone" };
    outputs.add({ output_type: "display_data", metadata: {}, data: { ...data, [type]: view } });
    outputs.add({ output_type: "display_data", metadata: {}, data: { "text/plain": "another's", [type]: view } });
}"""


def test_a_display_of_ours_is_saved_without_its_widget_and_others_as_they_are(
    open_notebook: Opener, lab: Server
) -> None:
    notebook = open_notebook(lab, ["1"])
    show(notebook, payload(whole_report()[:1]))
    assert drawn(notebook)
    notebook.page.evaluate(ADD, [WIDGET_VIEW, {PAYLOAD: payload(whole_report()[:1]), "text/plain": "ours"}])
    notebook.panel(1).root.wait_for()
    notebook.save()
    (cell,) = json.loads(notebook.path.read_text())["cells"]
    kept = [sorted(output["data"]) for output in cell["outputs"]]
    assert kept == [[PAYLOAD, "text/plain"], [PAYLOAD, "text/plain"], [WIDGET_VIEW, "text/plain"]]
    notebook.panel(1).root.wait_for()
    notebook.errors[:] = [error for error in notebook.errors if "gone" not in error and "widget" not in error.lower()]

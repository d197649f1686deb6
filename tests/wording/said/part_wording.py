"""A call within a cell's last line that is inspected."""

from jaxstage_ext.notebook.cells import part_wording

RUN = "%%compile --run"
SAID = {
    "an assignment": part_wording.told(["step(params, batch)"], ["params, l"], RUN),
    "of one name": part_wording.told(["loss(w, x)"], ["l"], RUN),
    "of a trace": part_wording.told(["loss(w, x)"], ["l"], ""),
    "no assignment": part_wording.told(["loss(w, x)"], [], RUN),
    "two calls": part_wording.told(["loss(w, x)", "loss(v, x)"], [], RUN),
}

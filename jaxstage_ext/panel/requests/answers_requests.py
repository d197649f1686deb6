"""The requests of the tab that answers questions about a program."""

from __future__ import annotations

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Params, Programs
from jaxstage_ext.program.device import device_figures
from jaxstage_ext.program.predicting import time_estimate
from jaxstage_ext.program.questions import answers


def _get_answer(programs: Programs, params: Params, progress: jobs.JobProgress) -> Answer:
    name = given.text(params, "question")
    if name not in answers.QUESTIONS:
        raise BadRequest(f"there is no question {given.quoted(name)}; there is {', '.join(answers.QUESTIONS)}")
    question, ask = answers.QUESTIONS[name]
    program = given.program(programs, params)
    time_estimate.read_at_hand(program)
    if name == "bound":
        device_figures.ensure_measured(program, progress.heard)
    answer = ask(program, progress.heard)
    return {
        "question": question,
        "text": answer.text,
        "line": answer.line,
        "row": answer.row,
        "state": answer.state,
        "view": answer.view,
    }, []


METHODS: dict[str, given.Method] = {"answer": jobs.slow(_get_answer)}

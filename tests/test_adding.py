"""A stage and a tab that are added as CONTRIBUTING says: an entry in a list and files of their own, nothing else."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from helpers.magic_shell import fresh_shell

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.stage_definition import LOWER, StageDefinition, StagedProgram
from jaxstage_ext.core.stage.staged import Stage, Staged
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.panel.params import Answer, Params, Programs
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saving import page_replies
from jaxstage_ext.panel.saving.first_replies import keep_first_replies
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.program import tabs
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.tab.tab_record import Price, Tab, TabTable
from jaxstage_ext.program.tab.tab_requests import always
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.document_kinds import KINDS, DocumentKind
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.summaries import summary_of

ROOT = Path(__file__).parent.parent
EVENT = "/made/up/shout_duration"


def run(staged: Staged, stage: Stage) -> str:
    """A stage that takes a quarter of a second by its own event: the module in capital letters."""
    text: str = staged.value(LOWER).as_text().upper()
    jax.monitoring.record_event_duration_secs(EVENT, 0.25)
    return text


def shouted(program: StagedProgram) -> Callable[[], Document] | None:
    text = program.staged.value("shout")
    return None if text is None else lambda: stablehlo.read(text, text, program.frame_table, "shouted")


def count(program: StagedProgram) -> Mapping[str, int]:
    return {"letter": sum(map(str.isalpha, program.staged.value("shout")))}


SHOUT = StageDefinition(
    name="shout",
    help="Stop after shouting: StableHLO in capital letters.",
    run=run,
    event=EVENT,
    documents={"shouted": shouted},
    count=count,
)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up stage, between lower and compile, and the kind of its document."""
    trace, lower, compile_ = stage_list.STAGES
    monkeypatch.setattr(stage_list, "STAGES", (trace, lower, SHOUT, compile_))
    monkeypatch.setitem(KINDS, "shouted", DocumentKind("SHOUTED StableHLO", "cry", "cries"))


def double(x: Any) -> Any:
    return x * 2


def inspected(**options: Any) -> Inspection:
    return inspect(double, jnp.ones(3), **options)


@pytest.mark.usefixtures("stage")
def test_a_stage_is_run_timed_counted_and_read() -> None:
    inspection = inspected(stage="shout")
    assert inspection.stage == "shout" and inspection.compiled is None
    assert inspection.seconds["shout"] == 0.25
    assert "STABLEHLO.MULTIPLY" in inspection.documents["shouted"].text
    summary = inspection.summary()
    letters = sum(map(str.isalpha, inspection.documents["shouted"].text))
    assert summary["stages"][-1] == {
        "name": "shout",
        "state": "done",
        "seconds": 0.25,
        "elapsed": None,
        "count": f"{letters:,} letters",
        "note": None,
    }
    assert [(document["kind"], document["title"]) for document in summary["documents"]][-1] == (
        "shouted",
        "SHOUTED StableHLO",
    )


@pytest.mark.usefixtures("stage")
def test_a_stage_stands_in_the_text_and_the_static_form_and_is_saved() -> None:
    inspection = inspected()
    assert inspection.compiled is not None, "the stages after it are run too"
    for form in (repr(inspection), panel_html([inspection.program])):
        assert "shout 250 ms" in form
        assert "SHOUTED StableHLO, " in form
        assert "STABLEHLO.MULTIPLY" in form
    again = Inspection.from_json(inspection.to_json())
    assert again.seconds["shout"] == 0.25
    assert again.documents["shouted"].text == inspection.documents["shouted"].text


@pytest.mark.usefixtures("stage")
def test_a_stage_is_not_compiled_for_and_is_shared_as_it_says() -> None:
    with pytest.raises(ValueError, match="stage='shout' stops before it"):
        inspected(stage="shout", compiler_options={"xla_backend_optimization_level": 0})
    with pytest.raises(ValueError, match="use one of 'trace', 'lower', 'shout', 'compile'"):
        inspected(stage="whisper")


@pytest.mark.usefixtures("stage")
@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
def test_a_stage_has_its_magics() -> None:
    with fresh_shell() as shell:
        seen = shell.run("%%shout -o kept\nloss(w, x)")
        assert seen.ok and "shout 250 ms" in seen.text
        assert shell["kept"].stage == "shout"
        assert shell.run("%shout loss(w, x)").panels == seen.panels
        awaited = shell.run("%%shout -q -o kept\nimport asyncio\nawait asyncio.sleep(0)\nloss(w, x)")
        assert awaited.ok and "shouted" in shell["kept"].documents
        assert "Stop after shouting" in shell.ip.magics_manager.magics["cell"]["shout"].__doc__
        assert "--static-argnums" in shell.ip.complete("", "%shout --st", 11)[1]
        assert "unknown option --xla" in shell.run("%shout --xla a=1 loss(w, x)").text
        assert "%shout does not make one" in shell.run("%shout --run loss(w, x)").text
        shell.run("%unload_ext jaxstage_ext")
        assert "not found" in shell.run("%shout loss(w, x)").text
        shell.run("%load_ext jaxstage_ext")


def counted(program: Program) -> Table | None:
    vowels = sum(letter in "aeiou" for letter in program.name)
    if program.name != "double":
        return None
    return Table("letters", {"kind": Column(["vowels", "all"]), "count": Column([vowels, len(program.name)])})


def measure(programs: Programs, params: Params) -> Answer:
    return {"letters": len(programs[0].name)}, []


@pytest.fixture
def tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up tab, second of all, for functions called double; and its file of requests."""
    made_up = Tab(
        "letters",
        lambda program: program.name == "double",
        always(("letters", {})),
        first=(("letters", {}),),
        price=Price.NOTHING,
        tables=(TabTable("letters by kind", ("kind", "count"), counted),),
    )
    monkeypatch.setattr(tabs, "TABS", (tabs.TABS[0], made_up, *tabs.TABS[1:]))
    requests: Any = ModuleType("jaxstage_ext.panel.requests.letters_requests")
    requests.METHODS = {"letters": measure}
    monkeypatch.setitem(sys.modules, requests.__name__, requests)


@pytest.mark.usefixtures("tab")
def test_a_tab_stands_in_its_place_and_its_requests_are_answered() -> None:
    inspection = inspected(stage="trace")
    assert inspection.summary()["views"][:3] == ["findings", "letters", "code"]
    assert "letters" not in inspect(lambda x: x, jnp.ones(3), stage="trace").summary()["views"]
    message, _ = dispatch.reply([inspection.program], {"id": 1, "method": "letters", "params": {}})
    assert message["result"] == {"letters": len("double")}


@pytest.mark.usefixtures("tab")
def test_a_tab_stands_in_all_five_forms() -> None:
    """The live page, the saved notebook, the offline page, static HTML and text."""
    program = inspected().program
    assert "letters" in summary_of(program)["views"]
    kept = KeptReplies()
    keep_first_replies([program], kept, clock=lambda: 0.0)
    assert "letters" in kept.of(program).tabs and kept.of(program).replies["letters {}"]["result"] == {"letters": 6}
    saved = page_replies.replies(program)
    assert "letters" in saved.tabs and saved.replies["letters {}"]["result"] == {"letters": 6}
    for form in (repr(inspected()), panel_html([program])):
        assert "letters by kind" in form and "vowels" in form


def test_every_tab_has_its_folder_and_every_file_of_requests_its_tab() -> None:
    names = [tab.name for tab in tabs.TABS]
    folders = {path.name for path in (ROOT / "labextension" / "src" / "tabs").iterdir() if path.is_dir()}
    assert set(names) == folders
    files = {path.stem for path in (ROOT / "jaxstage_ext" / "panel" / "requests").glob("*_requests.py")}
    parts = {file: tab for file in files for tab in names if file.startswith(f"{tab}_") and file != f"{tab}_requests"}
    alone = files - {f"{name}_requests" for name in names} - parts.keys()
    assert alone == {"document_requests"}, "those that belong to no tab"
    for part, tab in parts.items():
        methods = importlib.import_module(f"jaxstage_ext.panel.requests.{part}").METHODS
        assert methods, part
        answered = importlib.import_module(f"jaxstage_ext.panel.requests.{tab}_requests").METHODS
        assert methods.items() <= answered.items(), f"the tab {tab} does not answer {part}"


def test_without_it_the_request_is_unknown() -> None:
    program: Program = inspected(stage="trace").program
    message, _ = dispatch.reply([program], {"id": 1, "method": "letters", "params": {}})
    assert "unknown method 'letters'" in message["error"]["message"]

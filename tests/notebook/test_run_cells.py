"""Which cells the lines of a program are in, in a real kernel: their ids, and the checksum of the editor's text."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_kernel import PageKernel, errors, page_kernel

from jaxstage_ext.ir.sources import run_cells

LOADING = "%load_ext jaxstage_ext\nimport jax, jax.numpy as jnp\nx = jnp.ones((4, 4))\ndef early(x): return jnp.cos(x)"
BODY = "@jax.jit\ndef k(x):\n    return jnp.sin(x).sum()\nk(x)"


@pytest.fixture(scope="module")
def kernel() -> Iterator[PageKernel]:
    with page_kernel() as made:
        assert not errors(made.run(LOADING, "loading"))
        yield made


def crc(text: str) -> int:
    return zlib.crc32(text.encode())


def files(kernel: PageKernel) -> list[tuple[tuple[str, ...], int | None]]:
    """The cells and the checksum of each file of the user's that the Inspection's frames are in."""
    return list(kernel.value("[(f.cells, f.crc) for f in ins.frames.files if f.user]"))


def lines(kernel: PageKernel) -> set[int]:
    return set(kernel.value("[int(line) for line, file in zip(ins.frames.line, ins.frames.file) if not file]"))


def test_lines_of_plain_cells_and_of_the_cell_that_loaded_the_extension(kernel: PageKernel) -> None:
    plain = "def f(x):\n    return early(jnp.sin(x)).sum()"
    kernel.run(plain, "plain")
    kernel.run("ins = %compile -q f(x)", "later")
    assert files(kernel) == [(("plain",), crc(plain)), (("loading",), crc(LOADING))]


def test_the_text_of_a_magic_s_cell_has_the_magic_s_line(kernel: PageKernel) -> None:
    cell = "\n%%compile -q -o ins\n" + BODY
    kernel.run(cell, "magic")
    assert files(kernel) == [(("magic",), crc(cell))]
    assert lines(kernel) == {5}


def test_a_cell_of_the_same_text_is_the_same_file_and_an_edited_one_another(kernel: PageKernel) -> None:
    text = "def twin(x):\n    return x * 2"
    for cell in ("one", "two", "one"):
        kernel.run(text, cell)
    kernel.run("ins = %compile -q twin(x)", "later")
    assert files(kernel) == [(("one", "two"), crc(text))]
    kernel.run(text + "\n", "one")
    kernel.run("ins = %compile -q twin(x)", "later")
    assert files(kernel) == [(("one",), crc(text + "\n"))]


def test_where_the_editor_has_other_lines_than_the_code_the_checksum_is_unknown(kernel: PageKernel) -> None:
    kernel.run("\n\ndef blank(x):\n    return x * 3", "blank")
    kernel.run("ins = %compile -q blank(x)", "later")
    assert files(kernel) == [(("blank",), None)]


def test_a_cell_without_an_id_is_in_no_editor(kernel: PageKernel) -> None:
    kernel.run("def nowhere(x):\n    return x * 4")
    kernel.run("ins = %compile -q nowhere(x)")
    assert files(kernel) == [((), None)]


@pytest.mark.parametrize("stage", ["trace", "lower", "compile", "profile"])
@pytest.mark.parametrize("body", [BODY, f"\n\n{BODY}\n", f"import asyncio\nawait asyncio.sleep(0)\n{BODY}"])
def test_from_the_toolbar_the_lines_are_those_of_the_cell_alone(kernel: PageKernel, stage: str, body: str) -> None:
    assert not errors(kernel.run(f"%%{stage} --from-toolbar -q -o ins\n{body}", "button"))
    assert (("button",), crc(body)) in [(cells[:1], number) for cells, number in files(kernel)]
    assert body.split("\n").index("    return jnp.sin(x).sum()") + 1 in lines(kernel)
    assert "from-toolbar" not in kernel.value("ins.documents['python'].text")


def test_a_call_that_the_button_names_is_in_no_text(kernel: PageKernel) -> None:
    body = BODY.removesuffix("k(x)")
    kernel.run("%%compile --from-toolbar -q -o ins k(x * 2)\n" + body, "button")
    assert files(kernel) == [(("button",), crc(body))]
    assert lines(kernel) == {3}


@pytest.mark.parametrize("stage", ["compile", "profile"])
@pytest.mark.parametrize("first", ["%%time", "%%compile -q", "%%trace"])
def test_a_cell_with_a_magic_of_its_own_is_refused_in_one_line(kernel: PageKernel, stage: str, first: str) -> None:
    (message,) = errors(kernel.run(f"%%{stage} --from-toolbar\n{first}\n{BODY}", "button"))
    name = first.split()[0]
    assert message.strip() == (
        f"UsageError: the cell begins with {name}; run it as it is, or remove that line to {stage} the cell"
    )


def test_the_button_s_option_is_offered_to_nobody(kernel: PageKernel) -> None:
    matches = kernel.client.complete("%compile --f", 12, reply=True, timeout=60)["content"]["matches"]
    assert not [match for match in matches if "toolbar" in match]
    assert "toolbar" not in kernel.value("get_ipython().magics_manager.magics['cell']['profile'].__doc__")


def test_the_last_lines_leave_out_the_button_s_option_and_what_belongs_to_one_cell(kernel: PageKernel) -> None:
    kernel.run(f"%%compile --from-toolbar -t cpu:2 -o ins -q\n{BODY}", "button")
    kernel.open()
    line = kernel.result("last")["lines"]["compile"]
    assert line == {"line": "-t cpu:2 -o ins -q", "options": "-t cpu:2 -q"}


def test_the_user_s_own_files(kernel: PageKernel, tmp_path: Path) -> None:
    file = tmp_path / "model_of_run_cells.py"
    file.write_text("def step(x):\n    return x * 5\n")
    kernel.run(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from model_of_run_cells import step")
    kernel.run("ins = %compile -q step(x)")
    assert files(kernel) == [((), crc(file.read_text()))]
    code = "from jaxstage_ext.panel.requests.dispatch import answer; answer([ins.program], 'frames', {'call': 0})[0]"
    (described,) = [each for each in kernel.value(code)["files"] if each["user"]]
    assert described["path"] == str(file)
    assert (described["cells"], described["crc"]) == ([], crc(file.read_text()))
    kernel.run("saved = ins.to_json()")
    saved: Any = kernel.value("import json; json.loads(saved)['frames']['files'][0]")
    assert saved[3:] == [[], crc(file.read_text())] and str(tmp_path) not in str(saved)
    again = kernel.value("import jaxstage_ext; f = type(ins).from_json(saved).frames.files[0]; (f.cells, f.crc)")
    assert again == ((), crc(file.read_text()))


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cells, "MOST_FILES", 5)
    monkeypatch.setattr(run_cells, "MOST_CELLS", 3)
    run_cells.forget()
    for number in range(50):
        run_cells.record("same", f"cell-{number}", "x")
        run_cells.record(f"file-{number}", "cell", "x")
    assert len(run_cells._texts) == 5
    assert run_cells.text_in_editor("same").cells in ((), ("cell-49", "cell-48", "cell-47"))
    run_cells.forget()

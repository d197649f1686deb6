"""Which cell a compile belongs to, in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, Entry
from tests.helpers.magic_shell import Shell, fresh_shell


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell


def records_of(shell: Shell, cell: str) -> tuple[int, list[CompileRecord]]:
    """The prompt of a cell, and the records other than eager operations that it left."""
    after = LOG.next_number()
    number = shell.ip.execution_count
    seen = shell.run(cell)
    assert seen.ok, seen.text
    return number, [record for record in LOG if record.number > after and record.entry is not Entry.EAGER]


def test_a_function_of_an_earlier_cell_compiles_in_the_cell_that_calls_it(shell: Shell) -> None:
    defined = shell.ip.execution_count
    shell.run("def double(x):\n    return jstep(x) * 2")
    called, [record] = records_of(shell, "jstep = jax.jit(lambda x: x + 1)\n\ndouble(1.0)")
    assert record.cell == called
    assert record.call_site is not None
    assert record.user_line is not None
    assert (record.user_line.cell, record.user_line.line) == (defined, 2)
    assert record.user_line.function == "double"
    assert record.asker is Asker.USER


def test_a_cell_that_ran_again_has_its_newest_number(shell: Shell) -> None:
    first, [one] = records_of(shell, "jax.jit(lambda x: x + 3)(1.0)")
    second, [two] = records_of(shell, "jax.jit(lambda x: x + 3)(1.0)")
    assert (one.cell, two.cell) == (first, second)
    assert first != second
    assert one.function is not None
    assert two.function is not None
    assert one.function.code is not two.function.code
    assert one.function.code == two.function.code


@pytest.mark.parametrize("magic", ["%%time", "%%capture", "%%timeit -n1 -r1"])
def test_inside_another_magic(shell: Shell, magic: str) -> None:
    number, [record] = records_of(shell, f"{magic}\njax.jit(lambda x: x + 4)(1.0)")
    assert record.cell == number
    assert record.asker is Asker.USER


def test_under_exec(shell: Shell) -> None:
    number, [record] = records_of(shell, "x = 1\nexec('jax.jit(lambda x: x + 4)(1.0)')")
    assert record.cell == number
    assert record.call_site is not None
    assert record.user_line is not None
    assert record.call_site.file == "<string>"
    assert (record.user_line.cell, record.user_line.line) == (number, 2)


def test_an_await_in_a_cell(shell: Shell) -> None:
    number, [record] = records_of(
        shell, "import asyncio\nawait asyncio.sleep(0)\njax.jit(lambda x: x + 4)(1.0)\nawait asyncio.sleep(0)"
    )
    assert record.cell == number
    assert record.user_line is not None
    assert record.user_line.line == 3


def test_a_thread_that_goes_on_while_later_cells_run(shell: Shell) -> None:
    after = LOG.next_number()
    started = shell.ip.execution_count
    shell.run(
        "import threading\ngate, done = threading.Event(), threading.Event()\n"
        "def work():\n    gate.wait(20)\n    jax.jit(lambda x: x + 9)(1.0)\n    done.set()\n"
        "threading.Thread(target=work).start()"
    )
    later = shell.ip.execution_count
    assert shell.run("gate.set()\ndone.wait(20)\njax.jit(lambda x: x + 10)(1.0)").ok
    first, second = [record for record in LOG if record.number > after and record.entry is Entry.CALL]
    assert (first.cell, second.cell) == (started, later)
    assert first.thread != second.thread


def test_between_cells_there_is_no_cell(shell: Shell) -> None:
    after = LOG.next_number()
    shell["jax"].jit(lambda x: x + 11)(1.0)
    [record] = [record for record in LOG if record.number > after]
    assert record.cell is None
    assert record.user_line is not None
    assert record.user_line.file == __file__


def test_work_of_the_magics_is_ours_and_that_of_the_cell_is_the_users(shell: Shell) -> None:
    _, ours = records_of(shell, "%%compile\nloss(w, x)")
    assert ours
    assert {record.asker for record in ours} == {Asker.JAXSTAGE}
    number, users = records_of(shell, "%%trace\ndef g(x):\n    return x\ng(jax.jit(lambda x: x * 5)(2.0))")
    of_user = [record for record in users if record.asker is Asker.USER]
    assert [record.name for record in of_user] == ["<lambda>"]
    assert of_user[0].cell == number


def test_the_setting_ends_and_begins_the_log(shell: Shell) -> None:
    shell.run("%config JAXStage.compile_log = False")
    assert records_of(shell, "jax.jit(lambda x: x + 12)(1.0)")[1] == []
    shell.run("%config JAXStage.compile_log = True")
    assert len(records_of(shell, "jax.jit(lambda x: x + 13)(1.0)")[1]) == 1


def test_after_unload_nothing_is_heard_and_after_reload_it_is_once(shell: Shell) -> None:
    shell.run("%unload_ext jaxstage_ext")
    assert records_of(shell, "jax.jit(lambda x: x + 14)(1.0)")[1] == []
    shell.run("%load_ext jaxstage_ext\n%reload_ext jaxstage_ext")
    assert len(records_of(shell, "jax.jit(lambda x: x + 15)(1.0)")[1]) == 1


def test_an_interrupted_cell_leaves_no_stage_open(shell: Shell) -> None:
    shell.run("def f(x):\n    raise KeyboardInterrupt\njax.jit(f)(1.0)")
    record = list(LOG)[-1]
    assert record.failed is not None
    assert record.failed.startswith("KeyboardInterrupt")
    assert records_of(shell, "jax.jit(lambda x: x + 16)(1.0)")[1][0].parent is None

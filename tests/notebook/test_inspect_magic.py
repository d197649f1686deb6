"""`%inspect` as a user types it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("files")
    with fresh_shell() as made, contextlib.chdir(folder):
        made.ip.user_ns["folder"] = folder
        assert made.run(
            "compiled = jax.jit(loss).lower(w, x).compile()\n"
            "(folder / 'loss.mlir').write_text(jax.jit(loss).lower(w, x).as_text(debug_info=True))\n"
            "(folder / 'my loss.txt').write_text(compiled.as_text())\n"
            "(folder / 'dump').mkdir()\n"
            '(folder / \'notes.txt\').write_text(\'"""What to do."""\\nimport jax\\n\')\n'
            "(folder / 'dump/module_0001.jit_loss.cpu_after_optimizations.txt').write_text(compiled.as_text())"
        ).ok
        yield made


@pytest.mark.parametrize(
    ("line", "panel"),
    [
        ("%inspect loss.mlir", "jit_loss(w: f32[4,3], x: f32[2,4]) -> f32[]"),
        ("%inspect 'my loss.txt'", "jit_loss(f32[4,3], f32[2,4]) -> f32[]"),
        ("%inspect dump jit_loss", "jit_loss(f32[4,3], f32[2,4]) -> f32[]"),
        ("%inspect dump 1", "jit_loss(f32[4,3], f32[2,4]) -> f32[]"),
    ],
)
def test_a_file_or_a_module_of_a_folder_is_shown(shell: Shell, line: str, panel: str) -> None:
    seen = shell.run(line)
    assert seen.ok, seen.text
    assert panel in seen.text


def test_a_folder_lists_its_modules(shell: Shell) -> None:
    seen = shell.run("%inspect dump")
    assert "1 module in dump" in seen.text
    assert "jit_loss" in seen.text


def test_its_value_is_an_inspection(shell: Shell) -> None:
    assert shell.run("ins = %inspect loss.mlir -t cpu:1").ok
    assert shell.run("assert str(ins.target) == 'cpu:1' and ins.cost.work.total_flops > 0").ok


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("%inspect", "needs a file or a folder"),
        ("%inspect nothing.mlir", "nothing.mlir: No such file"),
        ("%inspect dump jit_other", "no module 'jit_other'; it has jit_loss"),
        ("%inspect dump 7", "no module 7"),
        ("%inspect loss.mlir jit_loss", "it holds one module, so leave out jit_loss"),
        ("%inspect 'my loss.txt' -t v5e:2x2", "compiled already"),
        ("%inspect loss.mlir -t", "-t needs a target"),
        ("%inspect loss.mlir -t v99", "v99"),
        ("%inspect --fast loss.mlir", "no option --fast"),
        ("%inspect 'loss.mlir", "missing closing quotation mark"),
        ("%inspect a b c", "not 3 names"),
        ("%inspect compiled", "compiled is a variable that holds a Compiled, not a path; %compile takes functions"),
        (
            "%inspect .",
            "it holds 1 module of StableHLO, as JAX_DUMP_IR_TO writes them; open one, for example loss.mlir",
        ),
        ("%inspect 'notes.txt'", "notes.txt cannot be opened: it begins with"),
    ],
)
def test_a_mistake_is_one_line(shell: Shell, line: str, says: str) -> None:
    seen = shell.run(line)
    assert not seen.ok
    assert says in seen.text
    assert seen.text.count("\n") <= 2

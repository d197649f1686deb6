"""%trace, %lower and %compile as a user types them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell

import jaxstage_ext

LOSS = "loss(w: f32[4,3], x: f32[2,4]) -> f32[]"
GRAD = "jax.grad(loss)(w: f32[4,3], x: f32[2,4]) -> f32[4,3]"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


# ---- which calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "panels"),
    [
        ("%%compile\nloss(w, x)", [LOSS]),
        ("%%compile\nloss(w, x);", [LOSS]),
        ("%%compile loss(w, x); jax.grad(loss)(w, x)\na = 1", [LOSS, GRAD]),
        ("%%compile\nloss(w, x); jax.grad(loss)(w, x)", [LOSS, GRAD]),
        ("%%compile loss(w, x)\njax.grad(loss)(w, x)", [LOSS]),
        ("%%compile loss(*(w, x))  # ; not(this)\na = 1", [LOSS]),
        ("%%compile loss(**{'w': w}, x=x)\na = 1", [LOSS]),
        ('%%compile --args "f32[2,4], w=f32[4,3]"\ndef two(w, x): return loss(w, x)', [LOSS.replace("loss", "two")]),
        ("%compile loss(w, x)", [LOSS]),
        ("%compile loss(w, x); jax.grad(loss)(w, x)", [LOSS, GRAD]),
        ('%compile --args "f32[2,4], w=f32[4,3]" loss', [LOSS]),
        ("%compile --args f32[2, 4], w=f32[4,3] loss", [LOSS]),
        ("%compile loss --args='w=f32[b,3], x=f32[2,b]' --dim b=4", [LOSS]),
        ("if True:\n    for n in (1,):\n        %compile loss(w * n, x)", [LOSS]),
        ("def local(v):\n    %trace loss(v, x)\nlocal(w)", [LOSS]),
        ("%trace (lambda a, *, b: a + b)(x, b=x)", ["(lambda a, *, b: a + b)(a: f32[2,4], b: f32[2,4]) -> f32[2,4]"]),
    ],
)  # fmt: skip
def test_the_calls_that_are_named_are_staged(shell: Shell, cell: str, panels: list[str]) -> None:
    seen = shell.run(cell)
    assert seen.ok, seen.text
    assert seen.panels == panels


@pytest.mark.parametrize(("kind", "kinds"), [("trace", 2), ("lower", 3), ("compile", 4)])
def test_each_magic_stops_at_its_stage(shell: Shell, kind: str, kinds: int) -> None:
    assert shell.run(f"%%{kind} -o ins\nloss(w, x)").ok
    assert list(shell["ins"].documents) == ["python", "jaxpr", "stablehlo", "hlo"][:kinds]


def test_methods_partials_and_jitted_functions(shell: Shell) -> None:
    shell.run("class M:\n    def apply(self, w):\n        return w * 2\nm = M()\nfrom functools import partial")
    seen = shell.run("%trace m.apply(w); partial(loss, w)(x); jax.jit(loss, static_argnums=())(w, x)")
    assert [panel.split("(")[0] for panel in seen.panels] == ["m.apply", "partial", "jax.jit"]


def test_an_assignment_is_an_ordinary_statement(shell: Shell) -> None:
    seen = shell.run("%%compile loss(w, x)\nassigned = loss(w, x)")
    assert seen.panels == [LOSS]
    assert shell["assigned"].shape == ()


# ---- definitions alone -----------------------------------------------------------------------------------------------


def test_annotations_and_defaults_say_the_arguments(shell: Shell) -> None:
    seen = shell.run("%%compile --dim b=2\ndef g(x: Float[Array, 'b 4'], scale=2.0):\n    return x * scale")
    assert seen.panels == ["g(x: f32[2,4], scale=2.0) -> f32[2,4]"]


def test_annotations_as_strings(shell: Shell) -> None:
    body = "from __future__ import annotations\ndef g(x: Float[Array, '2 4']):\n    return x"
    assert shell.run(f"%%trace\n{body}").panels == ["g(x: f32[2,4]) -> f32[2,4]"]
    shell.ip.compile.reset_compiler_flags()


def test_every_function_that_says_its_arguments_is_staged_and_the_others_are_named(shell: Shell) -> None:
    body = "def a(x: Float[Array, '2']): return x\n@jax.jit\ndef b(x: Float[Array, '3']): return x\ndef c(y): return y"
    seen = shell.run(f"%%trace\n{body}")
    assert seen.ok
    assert [panel.split("(")[0] for panel in seen.panels] == ["a", "b"]
    assert seen.text.startswith(
        "c: parameter y has no annotation; pass the arguments by a call on the magic's line (%%trace c(...))"
    )


def test_a_helper_of_the_cell_is_not_asked_about(shell: Shell) -> None:
    seen = shell.run(
        '%%trace --args "f32[3]"\ndef helper(a, b):\n    return a * b\ndef main(x):\n    return helper(x, x)'
    )
    assert seen.panels == ["main(x: f32[3]) -> f32[3]"]


def test_a_jitted_result_counts_as_a_function_of_the_cell(shell: Shell) -> None:
    seen = shell.run('%%trace --args "f32[3]"\ndef helper(a):\n    return a * 2\nstep = jax.jit(helper)')
    assert [panel.split("(")[0] for panel in seen.panels] == ["step"]


def test_beside_args_a_print_is_an_ordinary_statement(shell: Shell) -> None:
    seen = shell.run('%%trace --args "f32[3]"\ndef g(a):\n    return a\nprint("defined")')
    assert seen.text.startswith("defined\n┌ g(a: f32[3])")


# ---- results ---------------------------------------------------------------------------------------------------------


def test_output_binds_the_inspection_or_a_tuple(shell: Shell) -> None:
    shell.run("%%compile -o one\nloss(w, x)")
    assert isinstance(shell["one"], jaxstage_ext.Inspection)
    shell.run("%compile --output=two loss(w, x); loss(w, x)")
    assert [type(each) for each in shell["two"]] == [jaxstage_ext.Inspection] * 2


def test_a_line_magic_gives_the_inspection_where_its_value_is_used(shell: Shell) -> None:
    assert shell.run("assigned = %compile loss(w, x)").panels == [LOSS]
    assert shell["assigned"].name == "loss"
    assert shell.run("%compile loss(w, x)").value is None


def test_quiet_shows_no_panel(shell: Shell) -> None:
    seen = shell.run("%%compile -q -o silent\nloss(w, x)")
    assert (seen.text, shell["silent"].name) == ("", "loss")


def test_run_shows_the_value_and_keeps_it(shell: Shell) -> None:
    seen = shell.run("%%compile --run\nloss(w, x)")
    assert float(seen.value) == pytest.approx(5.996, abs=1e-3)
    assert "Out[" in seen.text
    assert shell.run("_").value is seen.value
    both = shell.run("%%compile --run loss(w, x); jax.grad(loss)(w, x)\na = 1")
    assert [value.shape for value in both.value] == [(), (4, 3)]
    assert float(shell.run("%compile --run loss(w, x)").value) == float(seen.value)


@pytest.mark.parametrize(
    "cell", ["%%compile --run\nloss(w, x);", "%compile --run loss(w, x);", "%%compile\nloss(w, x)"]
)
def test_a_semicolon_or_no_run_shows_no_value(shell: Shell, cell: str) -> None:
    seen = shell.run(cell)
    assert seen.value is None
    assert "Out[" not in seen.text


def test_run_happens_once_and_only_when_asked(shell: Shell) -> None:
    shell.run("ran = []\ndef effect(x):\n    jax.debug.callback(lambda: ran.append(1))\n    return x")
    shell.run("%%compile\neffect(1.0)")
    shell.run("jax.effects_barrier()")
    assert shell["ran"] == []
    shell.run("%%compile --run\neffect(1.0)")
    shell.run("jax.effects_barrier()")
    assert shell["ran"] == [1]


def test_run_with_static_arguments(shell: Shell) -> None:
    shell.run("def power(x, n):\n    return x ** n if n > 1 else x")
    assert float(shell.run("%compile --run --static-argnames n power(jnp.float32(3), n=2)").value) == 9
    assert float(shell.run("%compile --run --static-argnums 1 power(jnp.float32(3), 2)").value) == 9


def test_jit_options_reach_jit(shell: Shell) -> None:
    shell.run("%lower -o ins --keep-unused --donate-argnums 0 (lambda a, b: a + 1)(w, x)")
    donated = [leaf.donated for leaf in __import__("jax").tree.leaves(shell["ins"].lowered.args_info)]
    assert donated == [True, False]
    assert "tensor<2x4xf32>" in shell["ins"].documents["stablehlo"].text


# ---- help, completion, settings, loading -----------------------------------------------------------------------------


def test_help_documents_every_option(shell: Shell) -> None:
    text = shell.run("%compile?").text
    for option in (
        "--output",
        "--run",
        "--args",
        "--dim",
        "--static-argnums",
        "--donate-argnames",
        "--keep-unused",
        "--quiet",
    ):
        assert option in text
    assert "%compile [options]" in text


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
@pytest.mark.parametrize("jedi", [True, False])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%compile --st", ["--static-argnames", "--static-argnums"]),
        ("%%compile -o ins --do", ["--donate-argnames", "--donate-argnums"]),
        ("ins = %trace --outp", ["--output"]),
        ("%%lower --nothing", []),
        ("x --st", []),
    ],
)
def test_options_complete_and_nothing_else_does(shell: Shell, line: str, found: list[str], jedi: bool) -> None:
    shell.ip.Completer.use_jedi = jedi
    assert sorted(shell.ip.complete("", line, len(line))[1]) == found


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
def test_names_complete_as_ever(shell: Shell) -> None:
    shell.ip.Completer.use_jedi = False
    assert "loss" in shell.ip.complete("", "%compile los", 12)[1]


def test_config_shows_the_settings(shell: Shell) -> None:
    assert "JAXStage" in shell.run("%config").text
    assert "most_panels" in shell.run("%config JAXStage").text


def test_a_changed_setting_acts(shell: Shell) -> None:
    from jaxstage_ext.panel.showing import display

    before = display.MOST_PANELS
    assert shell.run("%config JAXStage.most_panels = 3\n%compile loss(w, x)").ok
    assert display.MOST_PANELS == 3
    assert shell.run(f"%config JAXStage.most_panels = {before}\n%compile loss(w, x)").ok
    assert before == display.MOST_PANELS


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
def test_unload_takes_everything_away_and_loading_again_works() -> None:
    with fresh_shell() as shell:
        shell.run("%load_ext jaxstage_ext")
        ip = shell.ip
        jaxstage_ext.load_ipython_extension(ip)
        assert len(ip.input_transformers_cleanup) == len(set(map(id, ip.input_transformers_cleanup)))
        shell.run("%unload_ext jaxstage_ext")
        assert "not found" in shell.run("%compile loss(w, x)").text
        assert "not found" in shell.run("%%compile\nloss(w, x)").text
        assert "not found" in shell.run("%xla_flags").text
        assert not [c for c in ip.configurables if type(c).__name__ == "JAXStage"]
        assert "--static-argnums" not in ip.complete("", "%compile --st", 13)[1]
        shell.run("%load_ext jaxstage_ext")
        assert shell.run("%compile loss(w, x)").panels == [LOSS]


def test_loading_imports_nothing_heavy() -> None:
    code = """
        import sys
        from IPython.core.interactiveshell import InteractiveShell
        InteractiveShell.instance().run_line_magic("load_ext", "jaxstage_ext")
        print([m for m in ("jax", "anywidget", "ipywidgets", "plotly", "jaxtyping") if m in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[]"


def test_without_history_and_from_code(shell: Shell) -> None:
    assert shell.run("%%compile\nloss(w, x)", history=False).panels == [LOSS]
    assert shell.run("kept = get_ipython().run_cell_magic('trace', '', 'loss(w, x)')").panels == [LOSS]


# ---- calls elsewhere in the cell ------------------------------------------------------------------------------------

TWO = "%%compile\ndef up(a): return a + 1\ndef down(a): return a - 1\n"


def test_calls_above_the_last_line_are_said_to_be_run_and_not_inspected(shell: Shell) -> None:
    seen = shell.run(TWO + "up(x)\ndown(x)")
    assert [panel.split(")")[0] for panel in seen.panels] == ["down(a: f32[2,4]"]
    assert "Only the last line is inspected: up(x) in line 4 was run as Python." in seen.text
    assert "put them on it: up(x); down(x)" in seen.text
    both = shell.run(TWO + "up(x); down(x)")
    assert len(both.panels) == 2 and "Only the last line" not in both.text
    assert "Only the last line" not in shell.run(TWO + "y = jnp.sin(x)\ndown(x)").text


@pytest.mark.parametrize("body", ["y = up(x)\nz = y * 2", "for each in range(2):\n    up(x)"])
def test_a_call_within_a_statement_is_named_with_its_line(shell: Shell, body: str) -> None:
    seen = shell.run("%%compile\ndef up(a): return a + 1\n" + body)
    line = 3 if body.startswith("y") else 4
    assert f"line {line} calls up within a statement, which was run" in seen.text
    assert "to inspect it, end the cell with up(x)" in seen.text and "--args" not in seen.text

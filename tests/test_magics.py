"""%trace, %lower and %compile as a user types them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell

import jaxstage_ext
from jaxstage_ext import staging

LOSS = "loss(w: f32[4,3], x: f32[2,4]) -> f32[]"
GRAD = "jax.grad(loss)(w: f32[4,3], x: f32[2,4]) -> f32[4,3]"


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


def one_line(text: str) -> str:
    """The text of a one-line user error."""
    assert text.startswith("UsageError: ")
    assert text.count("\n") == 1
    return text.removeprefix("UsageError: ").rstrip("\n")


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
    assert seen.panels == ["g(x: f32[2,4]) -> f32[2,4]"]


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
        "c: parameter y has no annotation; give the arguments by a call on the magic's line (%%trace c(...))"
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


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%compile --outptu a\n1", "unknown option --outptu; did you mean --output?"),
        ("%%compile --static\n1", "unknown option --static; did you mean --static-argnums or --static-argnames?"),
        ("%%compile -o\n1", "-o needs a value: -o NAME"),
        ("%%compile -o 3x\n1", "-o/--output: '3x' is not a name that Python can bind"),
        ("%%compile --dim b\n1", "--dim: 'b' is not of the form b=8"),
        ("%%compile --static-argnums a\n1", "--static-argnums: 'a' is not a list of positions such as 0,2"),
        ("%%compile --args 'f32[3]\n1", "no closing ' for 'f32[3]"),
        ("%%trace --run\nloss(w, x)", "--run needs an executable, and %trace makes none; use %compile --run"),
        ("%%compile y = loss(w, x)\n1", "y = loss(w, x) is no call; name a call such as loss(w, x)"),
        ("%compile", "say what to compile, for example %compile loss(w, x)"),
        ("%%compile\nprint(3)", "print is a Python builtin and no JAX function, so it cannot be staged; end the cell"),
        ("%%compile\ndict(a=3)", "dict is a class; stage a function or a method, so it cannot be staged"),
        ("%%compile\nw(3)", "w is an ArrayImpl, not a function, so it cannot be staged"),
        ("%compile w", "w is an ArrayImpl, not a function, so it cannot be staged"),
        ("%%compile\nasync def co(): pass\nco()", "co is a coroutine function, and JAX traces ordinary ones"),
        ("%%compile\nasync def co(): pass", "co is a coroutine function, and JAX traces ordinary ones"),
        ("%%compile\nn = 3", "nothing to compile in this cell; end the cell with the call to compile"),
        ("%%compile\ndef g(y): return y", "g: parameter y has no annotation; give the arguments by a call on the"),
        ("%%compile\ndef g(y: jax.Array): return y", "g: parameter y is annotated"),
        ("%%compile\ndef g(y: Float[Array, 'b 3']): return y", "an axis 'b' without a size; give --dim b=8"),
        ("%%compile --dim c=3\nloss(w, x)", "--dim c=3: no axis is named 'c'"),
        ('%%compile --args "f32[3]"\nloss(w, x)', "--args and loss(...) both say with which arguments to stage"),
        ('%compile --args "f32[3], f32[3], f32[3]" loss', "--args gives 3 arguments, but loss(w, x) takes fewer"),
        ('%compile --args "f32[3]" loss', "loss: parameter x has no annotation"),
        ('%compile --run --args "f32[2,4], w=f32[4,3]" loss', "--run needs values, but loss is given shapes"),
        ("%compile loss(w=w, **{'w': w})", "loss() got multiple values for keyword argument 'w'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(shell: Shell, cell: str, said: str) -> None:
    seen = shell.run(cell)
    assert said in one_line(seen.text)
    assert not seen.ok


@pytest.mark.parametrize(
    ("cell", "quoted", "under"),
    [
        ("%%compile loss(w, x\n1", "loss(w, x", "("),
        ('%compile --args "f32[8], w=f33[8]" loss', "f32[8], w=f33[8]", "f33"),
    ],
)
def test_a_mistake_inside_a_text_is_pointed_at(shell: Shell, cell: str, quoted: str, under: str) -> None:
    lines = shell.run(cell).text.rstrip("\n").split("\n")
    assert lines[-2].strip() == quoted
    assert lines[-2][lines[-1].index("^") :].startswith(under)


def test_bad_options_run_nothing_of_the_cell(shell: Shell) -> None:
    shell.run("%%compile --nope\nset_by_cell = 1")
    assert "set_by_cell" not in shell


def test_a_failing_stage_shows_the_panel_and_one_line_and_the_cell_fails(shell: Shell) -> None:
    seen = shell.run("%%compile -o ins\ndef bad(x):\n    y = x + 1\n    return y if x.sum() > 0 else x\nbad(x)")
    assert seen.panels
    assert type(seen.error).__name__ == "TracerBoolConversionError"
    assert "Traceback" not in seen.text
    assert "jaxstage_ext" not in seen.text
    last = seen.text.rstrip("\n").split("\n")[-1]
    assert last.startswith("TracerBoolConversionError: Attempted boolean conversion")
    assert last.endswith("(the panel above tells where)")
    assert shell["ins"].error.span.line == 4


def test_one_failing_call_leaves_the_others(shell: Shell) -> None:
    seen = shell.run("%%compile -o both loss(w, w); loss(w, x)\n1;")
    assert len(seen.panels) == 2
    assert [each.compiled is None for each in shell["both"]] == [True, False]
    assert isinstance(seen.error, TypeError)


def test_quiet_failure_tells_all(shell: Shell) -> None:
    seen = shell.run("%%compile -q\ndef bad(x):\n    return x + jnp.ones((5, 5))\nbad(x)")
    assert "return x + jnp.ones((5, 5))" in seen.text
    assert "jaxstage_ext" not in seen.text


def test_an_interrupt_keeps_what_is_there_and_shows_no_traceback(shell: Shell) -> None:
    seen = shell.run("%%compile -o ins\ndef stopped(x):\n    raise KeyboardInterrupt\nstopped(x); loss(w, x)")
    assert isinstance(seen.error, KeyboardInterrupt)
    assert "Traceback" not in seen.text
    assert seen.text.rstrip().endswith("KeyboardInterrupt (stopped; the panel shows how far it came)")
    assert [each.error is not None for each in shell["ins"]] == [True, False]
    assert shell["ins"][1].traced is None


def test_an_executable_that_fails_is_shown_without_our_frames(shell: Shell) -> None:
    shell.run("gone = jnp.ones((2, 4))\ngone.delete()")
    seen = shell.run("%%compile --run\nloss(w, gone)")
    assert seen.panels == [LOSS]
    assert "deleted" in str(seen.error)
    assert "jaxstage_ext" not in seen.text


def test_names_with_markup_and_emoji(shell: Shell) -> None:
    seen = shell.run(
        "%trace (lambda s: s['<script>alert(1)</script> 🎉 \"q\"'])({'<script>alert(1)</script> 🎉 \"q\"': w})"
    )
    assert seen.ok, seen.text


def test_without_jax_one_line_says_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    assert "JAX cannot be imported in this kernel" in one_line(shell.run("%%compile\nloss(w, x)").text)


def test_without_a_device_one_line_says_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Any:
        raise RuntimeError("Unable to initialize backend 'tpu': no TPU\nmore")

    monkeypatch.setattr("jax.local_devices", none)
    said = one_line(shell.run("%%compile\nloss(w, x)").text)
    assert said == "JAX finds no device: Unable to initialize backend 'tpu': no TPU"


# ---- the panel -------------------------------------------------------------------------------------------------------


def test_the_panel_is_there_before_the_first_stage_and_told_of_each(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []

    def states(inspections: Any) -> str:
        return " ".join(f"{s['state'][0]}" for i in inspections for s in i.summary()["stages"])

    def show(inspections: Any) -> Any:
        told.append(("show", states(inspections)))
        return SimpleNamespace(
            refresh=lambda each: told.append(("refresh", states(each))),
            finish=lambda each: told.append(("finish", states(each))),
        )

    monkeypatch.setattr(staging, "_show", show)
    shell.run("%%lower\nloss(w, x); loss(w, w)")
    assert told == [
        ("show", "w w w w"),
        ("refresh", "r w w w"),
        ("refresh", "d w w w"),
        ("refresh", "d r w w"),
        ("refresh", "d d w w"),
        ("refresh", "d d r w"),
        ("refresh", "d d f w"),
        ("finish", "d d f w"),
    ]


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
        ("ins = %trace --ou", ["--output"]),
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
        assert not [c for c in ip.configurables if type(c).__name__ == "JAXStage"]
        assert "--static-argnums" not in ip.complete("", "%compile --st", 13)[1]
        shell.run("%load_ext jaxstage_ext")
        assert shell.run("%compile loss(w, x)").panels == [LOSS]


def test_loading_imports_nothing_heavy_and_is_quick() -> None:
    code = """
        import sys, time
        from IPython.core.interactiveshell import InteractiveShell
        ip = InteractiveShell.instance()
        import numpy
        start = time.perf_counter()
        ip.run_line_magic("load_ext", "jaxstage_ext")
        print(time.perf_counter() - start)
        print([m for m in ("jax", "anywidget", "ipywidgets", "plotly", "jaxtyping") if m in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    seconds, heavy = done.stdout.split("\n")[:2]
    assert heavy == "[]"
    assert float(seconds) < 0.1


def test_without_history_and_from_code(shell: Shell) -> None:
    assert shell.run("%%compile\nloss(w, x)", history=False).panels == [LOSS]
    assert shell.run("kept = get_ipython().run_cell_magic('trace', '', 'loss(w, x)')").panels == [LOSS]

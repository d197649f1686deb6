"""Compile options: read, checked, heeded by XLA, shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from magic_shell import Shell, fresh_shell

import jaxstage_ext
from jaxstage_ext.core import fdo, flags, options
from jaxstage_ext.core.flags import Flags
from jaxstage_ext.core.options import OptionError, build, check

X = jnp.ones((16, 16))
UNFUSED = {"xla_disable_hlo_passes": "fusion"}
ALONE = "%wrapped_tanh"
"""In the HLO where tanh was not fused with its neighbours."""


def f(a: Any, b: Any) -> Any:
    return jnp.sum(jnp.tanh(a @ b) * 2 + a)


def hlo(**given: Any) -> str:
    return jaxstage_ext.inspect(f, X, X, compiler_options=given).documents["hlo"].text


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


# ---- reading and checking --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("xla_cpu_enable_fast_math=true", "xla_cpu_enable_fast_math", True),
        ("--xla_cpu_enable_fast_math=False", "xla_cpu_enable_fast_math", False),
        ("cpu_enable_fast_math=1", "xla_cpu_enable_fast_math", True),
        ("cpu-enable-fast-math=0", "xla_cpu_enable_fast_math", False),
        ("backend_optimization_level=-1", "xla_backend_optimization_level", -1),
        ("gpu_auto_spmd_partitioning_memory_budget_ratio=1", "xla_gpu_auto_spmd_partitioning_memory_budget_ratio", 1.0),
        ("step_marker_location=step_mark_none", "xla_step_marker_location", "STEP_MARK_NONE"),
        ("step_marker_location=2", "xla_step_marker_location", "STEP_MARK_NONE"),
        ("gpu_enable_command_buffer=fusion, cublas", "xla_gpu_enable_command_buffer", "FUSION,CUBLAS"),
        ("gpu_enable_command_buffer=", "xla_gpu_enable_command_buffer", ""),
        ("disable_hlo_passes=fusion,algsimp", "xla_disable_hlo_passes", "fusion,algsimp"),
        ("dump_hlo_pass_re='.* = \"a\"'", "xla_dump_hlo_pass_re", '.* = "a"'),
        ("optimization_level=O1", "optimization_level", 19),
        ("xla_tpu_scoped_vmem_limit_kib=1000", "xla_tpu_scoped_vmem_limit_kib", "1000"),
        ("tpu_enable_something=true", "xla_tpu_enable_something", True),
    ],
)
def test_flags_as_people_write_them(text: str, name: str, value: Any) -> None:
    read = build([text])
    assert read == {name: value}
    assert type(read[name]) is type(value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cpu_enable_fast_mth=1", "XLA has no option 'cpu_enable_fast_mth'; did you mean xla_cpu_enable_fast_math"),
        ("autotune_level=1", "did you mean xla_gpu_autotune_level?"),
        ("fast_mth=1", "did you mean xla_enable_fast_math or xla_cpu_enable_fast_math?"),
        ("xla_zork=1", "XLA has no option 'xla_zork'; %xla_flags lists all"),
        ("backend_optimization_level=high", "xla_backend_optimization_level wants a 32-bit integer, not 'high'"),
        ("backend_optimization_level=1.5", "wants a 32-bit integer, not '1.5'"),
        ("backend_optimization_level=2147483648", "wants a 32-bit integer, not '2147483648'"),
        ("cpu_enable_fast_math=2", "xla_cpu_enable_fast_math wants True or False, not '2'"),
        ("cpu_enable_fast_math=", "wants True or False, not ''"),
        ("gpu_auto_spmd_partitioning_memory_budget_ratio=nan", "wants a number such as 0.5, not 'nan'"),
        ("step_marker_location=nowhere", "wants one of STEP_MARK_AT_ENTRY, "),
        ("gpu_enable_command_buffer=FUSION,NOPE", "wants a list separated by commas, each one of INVALID, FUSION"),
        ("backend_extra_options=a", "holds a structure"),
        ("cpu_enable_fast_math", "'cpu_enable_fast_math' is not of the form name=value"),
        ("=3", "'=3' is not of the form name=value"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(text: str, told: str) -> None:
    with pytest.raises(OptionError) as caught:
        build([text])
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_number_of_any_length_is_told() -> None:
    with pytest.raises(OptionError, match="wants a 32-bit integer, not '999"):
        build(["backend_optimization_level=" + "9" * 5000])


def test_an_option_is_set_once() -> None:
    for given in (["dump_to=a", "dump_to=b"], ["dump_to=a", "xla_dump_to=b"]):
        with pytest.raises(OptionError, match="set twice"):
            build(given)
    with pytest.raises(OptionError, match="xla_backend_optimization_level is set twice"):
        build(["backend_optimization_level=2"], level=1)


@pytest.mark.parametrize(
    ("given", "checked"),
    [
        ({"cpu_enable_fast_math": np.bool_(True)}, {"xla_cpu_enable_fast_math": True}),
        ({"backend_optimization_level": np.int64(2)}, {"xla_backend_optimization_level": 2}),
        ({"disable_hlo_passes": ["fusion", "algsimp"]}, {"xla_disable_hlo_passes": "fusion,algsimp"}),
        ({"dump_to": Path("here")}, {"xla_dump_to": "here"}),
        ({}, {}),
    ],
)
def test_values_from_python(given: dict[str, Any], checked: dict[str, Any]) -> None:
    assert check(given) == checked


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"dump_to": 3}, "xla_dump_to wants text, not 3"),
        ({"backend_optimization_level": True}, "wants a 32-bit integer, not True"),
        ({"disable_hlo_passes": 3}, "wants a list separated by commas, each text, not 3"),
        ({"fdo_profile": "a.pb"}, "fdo_profile wants the profile's bytes, not 'a.pb'"),
        ({"optimization_level": [1]}, "optimization_level wants one of UNKNOWN, O0, O1, O2, O3, not [1]"),
        ({"memory_fitting_level": 5}, "memory_fitting_level wants one of UNKNOWN, O0, O1, O2, O3, not 5"),
        ({"num_replicas": 2}, "num_replicas=2: JAX compiles for one replica"),
        ({"num_partitions": "many"}, "num_partitions wants a whole number from 1, not 'many'"),
        ({"num_partitions": 0}, "num_partitions wants a whole number from 1, not 0"),
        ({"device_assignment": "0,0"}, "device_assignment wants different device ids such as 0,2,1,3, not '0,0'"),
        ({"device_assignment": 3}, "device_assignment wants whole numbers such as 0,2, not 3"),
        ({"use_shardy_partitioner": True}, "use_shardy_partitioner is not taken by JAX"),
        ({"xla_tpu_x": [1]}, "xla_tpu_x must be a bool, a number or text, not [1]"),
        ({3: 4}, "the name of an option must be text, not 3"),
    ],
)
def test_wrong_values_from_python(given: dict[Any, Any], told: str) -> None:
    with pytest.raises(OptionError) as caught:
        check(given)
    assert told in str(caught.value)


def test_where_flags_cannot_be_read_xla_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "installed", lambda: Flags({}, "the flags of libother.so cannot be read: no"))
    assert build(["xla_zork=true", "xla_step=1"]) == {"xla_zork": True, "xla_step": "1"}
    (note,) = options.notes({"xla_zork": True}, "cpu")
    assert "not checked before XLA sees them: the flags of libother.so cannot be read: no." in note
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options={"xla_backend_optimization_level": "0"})
    assert inspection.summary()["options"] == {"xla_backend_optimization_level": "0"}
    with pytest.raises(Exception, match="No such compile option: 'xla_zork'"):
        jaxstage_ext.inspect(f, X, X, compiler_options={"xla_zork": True})


@pytest.mark.parametrize(
    ("name", "platform", "told"),
    [
        ("xla_gpu_autotune_level", "cpu", "is a flag of XLA's GPU backend; this is compiled for cpu"),
        ("xla_cpu_enable_fast_math", "cuda", "is a flag of XLA's CPU backend; this is compiled for gpu"),
        ("xla_tpu_anything", "cpu", "libtpu alone knows the flags of TPUs, and this is compiled for cpu."),
        ("xla_tpu_anything", "tpu", "libtpu alone knows the flags of TPUs."),
        ("xla_gpu_autotune_level", "rocm", None),
        ("xla_cpu_enable_fast_math", "cpu", None),
        ("xla_dump_to", "cpu", None),
    ],
)
def test_a_flag_of_another_backend_is_noticed(name: str, platform: str, told: str | None) -> None:
    notes = options.notes({name: 1}, platform)
    assert len(notes) == (told is not None)
    assert told is None or told in notes[0]


def test_a_note_is_part_of_the_report() -> None:
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options={"gpu_autotune_level": 2})
    (note,) = inspection.summary()["notes"]
    assert note.startswith("xla_gpu_autotune_level is a flag of XLA's GPU backend; this is compiled for cpu")
    assert note[:40] in repr(inspection)


# ---- profiles --------------------------------------------------------------------------------------------------------


def test_a_profile_is_read(tmp_path: Path) -> None:
    kind = fdo._kind()
    profile = kind(costs=[{"name": "dot.1", "cost_us": 2.5}])
    for content in (profile.SerializeToString(), str(profile).encode()):
        (tmp_path / "fdo.pb").write_bytes(content)
        read = build(profile=str(tmp_path / "fdo.pb"))
        assert read == {"fdo_profile": content}
        inspection = jaxstage_ext.inspect(f, X, X, compiler_options=read)
        assert inspection.summary()["options"] == {"fdo_profile": f"{len(content)} bytes"}
        assert inspection.summary()["notes"] == []


@pytest.mark.parametrize(("content", "told"), [(b"junk\xff", "neither binary nor text"), (b"#\n", "cost of no instr")])
def test_a_damaged_profile_is_noticed(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "fdo.pb").write_bytes(content)
    (note,) = options.notes(build(profile=str(tmp_path / "fdo.pb")), "gpu")
    assert "may be damaged" in note
    assert told in note


def test_a_profile_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name, told in (("none", "no such file"), (".", "is a directory"), ("empty", "is empty")):
        with pytest.raises(OptionError, match=told):
            build(profile=str(tmp_path / name))


# ---- heeded by XLA ---------------------------------------------------------------------------------------------------


def test_an_option_changes_the_hlo() -> None:
    assert ALONE not in hlo()
    assert ALONE in hlo(**UNFUSED)
    assert ALONE not in hlo()
    assert ALONE in hlo(disable_hlo_passes=["algsimp", "fusion"])


def test_an_option_changes_the_executable() -> None:
    def size(level: int) -> int:
        asked = {"backend_optimization_level": level}
        compiled = jaxstage_ext.inspect(f, X, X, compiler_options=asked).compiled
        return len(compiled.runtime_executable().serialize())

    assert size(0) < 0.8 * size(3)


def test_the_executable_runs() -> None:
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options=UNFUSED)
    np.testing.assert_allclose(inspection.execute(), f(X, X), rtol=1e-5)


@pytest.mark.parametrize("library", ["equinox", "nnx", "pmap", "jit"])
def test_wrappers_pass_options_through(library: str) -> None:
    def jitted() -> Any:
        if library == "equinox":
            return pytest.importorskip("equinox").filter_jit(f)
        if library == "nnx":
            return pytest.importorskip("flax.nnx").jit(f)
        return jax.jit(f) if library == "jit" else jax.pmap(f)

    args = (X[None], X[None]) if library == "pmap" else (X, X)
    plain = jaxstage_ext.inspect(jitted(), *args).documents["hlo"].text
    unfused = jaxstage_ext.inspect(jitted(), *args, compiler_options=UNFUSED).documents["hlo"].text
    assert ALONE not in plain
    assert ALONE in unfused


def test_options_that_a_function_was_jitted_with_are_shown_too() -> None:
    jitted = jax.jit(f, compiler_options=UNFUSED | {"xla_gpu_autotune_level": 2})
    inspection = jaxstage_ext.inspect(jitted, X, X, compiler_options={"xla_disable_hlo_passes": "algsimp"})
    assert inspection.summary()["options"] == {"xla_disable_hlo_passes": "algsimp", "xla_gpu_autotune_level": 2}
    assert len(inspection.summary()["notes"]) == 1
    assert ALONE not in inspection.documents["hlo"].text
    assert ALONE in jaxstage_ext.inspect(jitted, X, X).documents["hlo"].text


class Stubborn:
    """Some library's jit, whose compile takes nothing."""

    def __call__(self, *args: Any) -> Any:
        return f(*args)

    def lower(self, *args: Any) -> Any:
        class Lowered:
            lowered = jax.jit(f).lower(*args)

            def compile(self) -> Any:
                return self.lowered.compile()

        return Lowered()


def test_a_wrapper_that_takes_no_options_says_so() -> None:
    assert jaxstage_ext.inspect(Stubborn(), X, X).compiled is not None
    with pytest.raises(TypeError, match="Lowered takes no compiler_options, so xla_disable_hlo_passes cannot be set"):
        jaxstage_ext.inspect(Stubborn(), X, X, compiler_options=UNFUSED)


# ---- inspect() -------------------------------------------------------------------------------------------------------


def test_inspect_checks_names_and_stages() -> None:
    with pytest.raises(ValueError, match="did you mean xla_cpu_enable_fast_math"):
        jaxstage_ext.inspect(f, X, X, compiler_options={"cpu_enable_fast_mth": True})
    with pytest.raises(ValueError, match="stage='lower' stops before it"):
        jaxstage_ext.inspect(f, X, X, stage="lower", compiler_options=UNFUSED)
    assert jaxstage_ext.inspect(f, X, X, stage="lower", compiler_options={}).compiled is None


def test_options_are_kept_apart_from_the_functions_own_arguments() -> None:
    inspection = jaxstage_ext.inspect(f, X, b=X, compiler_options=UNFUSED)
    assert "compiler_options" not in inspection.summary()["signature"]
    assert dict(inspection.call.kwargs).keys() == {"b"}


# ---- shown -----------------------------------------------------------------------------------------------------------


def test_options_are_saved_and_shown_in_every_form() -> None:
    given = {"cpu_enable_fast_math": False, "backend_optimization_level": 1, "dump_hlo_pass_re": "<script>x</script>"}
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options=given)
    saved = jaxstage_ext.Inspection.from_json(inspection.to_json())
    for one in (inspection, saved):
        assert one.summary()["options"] == {f"xla_{name}": value for name, value in given.items()}
        forms = one._repr_mimebundle_()
        assert "options xla_cpu_enable_fast_math=False · xla_backend_optimization_level=1" in forms["text/plain"]
        assert "xla_backend_optimization_level=1</code>" in forms["text/html"]
        assert "xla_dump_hlo_pass_re=&lt;script&gt;x" in forms["text/html"]


def test_without_options_nothing_is_shown() -> None:
    inspection = jaxstage_ext.inspect(f, X, X)
    assert inspection.summary()["options"] == {}
    forms = inspection._repr_mimebundle_()
    assert "options xla" not in forms["text/plain"]
    assert "options <code" not in forms["text/html"]


def test_an_inspection_saved_before_there_were_options_opens() -> None:
    saved = json.loads(jaxstage_ext.inspect(f, X, X).to_json())
    del saved["summary"]["options"]
    opened = jaxstage_ext.Inspection.from_json(json.dumps(saved))
    assert "options xla" not in repr(opened)


def test_large_numbers_stay_exact_in_the_browser() -> None:
    assert options.shown({"a": 2**60 + 1, "b": 3, "c": float("inf"), "d": b"12345" * 300}) == {
        "a": "1152921504606846977",
        "b": 3,
        "c": "inf",
        "d": "1,500 bytes",
    }


# ---- magics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("%compile --xla disable_hlo_passes=fusion loss(w, x)", "xla_disable_hlo_passes=fusion"),
        ("%compile loss(w, x) --xla --xla_cpu_enable_fast_math=true -O2", "xla_cpu_enable_fast_math=True · xla_b"),
        ("%%compile -O 0 -o ins\nloss(w, x)", "xla_backend_optimization_level=0"),
        ('%compile --xla "dump_hlo_pass_re=a b" loss(w, x)', "xla_dump_hlo_pass_re=a b"),
        ('%compile --xla dump_hlo_pass_re="a b" loss(w, x)', "xla_dump_hlo_pass_re=a b"),
    ],
)
def test_options_on_the_magics_line(shell: Shell, line: str, given: str) -> None:
    seen = shell.run(line)
    assert seen.ok, seen.text
    assert f"options {given}" in seen.text


def test_options_hold_for_every_call_and_for_run(shell: Shell) -> None:
    seen = shell.run("%compile -o both --run -O1 loss(w, x); jax.grad(loss)(w, x)")
    assert len(seen.value) == 2
    assert [i.summary()["options"] for i in shell["both"]] == [{"xla_backend_optimization_level": 1}] * 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%compile --xla zork=1 loss(w, x)", "XLA has no option 'zork'"),
        ("%%compile --xla cpu_enable_fast_math=maybe\nran = 1", "wants True or False, not 'maybe'"),
        ("%compile -O 4 loss(w, x)", "'4' is not a level from 0 to 3"),
        ("%compile --fdo-profile /no/such/file loss(w, x)", "the FDO profile '/no/such/file' cannot be read"),
        ("%compile --autotune-results /no/such loss(w, x)", "autotune results '/no/such' cannot be read: no such file"),
        ("%compile --save-autotune-results /no/such/a.pb loss(w, x)", "there is no directory '/no/such'"),
        ("%compile --xla", "--xla needs a value: --xla name=value"),
        ("%trace --xla dump_to=a loss(w, x)", "unknown option --xla"),
        ("%lower -O1 loss(w, x)", "unknown option -O1"),
        ("%xla_flags zork", "has 'zork' in its name"),
    ],
)
def test_mistakes_are_one_line_and_nothing_runs(shell: Shell, line: str, told: str) -> None:
    seen = shell.run(line)
    assert type(seen.error).__name__ == "UsageError"
    assert told in seen.text
    assert len(seen.text.strip().splitlines()) == 1
    assert "ran" not in shell


def test_the_flag_table(shell: Shell) -> None:
    lines = shell.run("%xla_flags fast math cpu enable").text.splitlines()
    assert [line.split() for line in lines] == [
        ["flag", "type", "default"],
        ["xla_cpu_enable_fast_math", "bool", "False"],
    ]
    text = shell.run("%xla_flags step marker").text
    assert "(not set)" in text
    assert "values: STEP_MARK_AT_ENTRY, " in text
    assert len(shell.run("%xla_flags").text.splitlines()) == len(flags.installed().by_name) + 1


def test_no_table_without_flags(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "installed", lambda: Flags({}, "no list"))
    assert "no list; %compile --xla leaves names to XLA" in shell.run("%xla_flags").text


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
@pytest.mark.parametrize("jedi", [True, False])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%compile --xla xla_cpu_enable_fast_ma", ["xla_cpu_enable_fast_math="]),
        ("%%compile -o a --xla cpu_enable_fast_ma", ["cpu_enable_fast_math="]),
        ("%compile --xla=cpu_enable_fast_ma", ["cpu_enable_fast_math="]),
        ("%compile --xla --xla_cpu_enable_fast_ma", ["--xla_cpu_enable_fast_math="]),
        ("%compile --xla dump_to=a --xla cpu_enable_fast_ma", ["cpu_enable_fast_math="]),
        ("%compile --xla cpu_enable_fast_math=", ["False", "True"]),
        ("%compile --xla xla_step_marker_location=step_mark_n", ["STEP_MARK_NONE"]),
        ("%compile --xla dump_to=a --xl", ["--xla"]),
        ("%compile --fd", ["--fdo-profile"]),
        ("%compile --auto", ["--autotune-results"]),
        ("%compile --save", ["--save-autotune-results"]),
        ("%xla_flags xla_cpu_enable_fast_ma", ["xla_cpu_enable_fast_math"]),
        ("%compile --xla zork", []),
        ("%trace --xla cpu_enable_fast_ma", []),
    ],
)
def test_flags_complete(shell: Shell, line: str, found: list[str], jedi: bool) -> None:
    shell.ip.Completer.use_jedi = jedi
    assert sorted(shell.ip.complete("", line, len(line))[1]) == found


@pytest.mark.filterwarnings("ignore:`Completer.complete` is pending")
def test_all_flags_complete_after_a_space(shell: Shell) -> None:
    found = shell.ip.complete("", "%compile --xla ", 15)[1]
    assert sorted(found) == sorted(f"{name}=" for name in flags.installed().by_name)


def test_help_tells_of_them(shell: Shell) -> None:
    text = shell.run("%compile?").text
    assert all(option in text for option in ("--xla", "--optimization-level", "--fdo-profile", "%xla_flags lists"))
    assert "--xla" not in shell.run("%trace?").text
    assert "XLA_FLAGS" in shell.run("%xla_flags?").text


def test_the_worker_compiles_with_them_too() -> None:
    def two(x):
        return jnp.sin(x) * 2

    plain = jaxstage_ext.inspect(two, jnp.ones(8), target="cpu:2")
    without = jaxstage_ext.inspect(
        two, jnp.ones(8), target="cpu:2", compiler_options={"xla_disable_hlo_passes": "fusion"}
    )
    assert " fusion(" in plain.documents["hlo"].text
    assert without.documents["hlo"].text.count(" fusion(") != plain.documents["hlo"].text.count(" fusion(")
    assert without.summary()["options"] == {"xla_disable_hlo_passes": "fusion"}
    assert without.summary()["target"].startswith("cpu:2")

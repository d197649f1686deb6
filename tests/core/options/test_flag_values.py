"""Compile options: read, checked, heeded by XLA, shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.core.options import fdo, flag_values, xla_flags
from jaxstage_ext.core.options.flag_values import OptionError, build, check
from jaxstage_ext.core.options.xla_flags import Flags

X = jnp.ones((16, 16))


def f(a: Any, b: Any) -> Any:
    return jnp.sum(jnp.tanh(a @ b) * 2 + a)


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


WRONG_TEXTS = [
    ("cpu_enable_fast_mth=1", ("XLA", "'cpu_enable_fast_mth'", "xla_cpu_enable_fast_math")),
    ("autotune_level=1", ("xla_gpu_autotune_level",)),
    ("fast_mth=1", ("xla_enable_fast_math", "xla_cpu_enable_fast_math")),
    ("xla_zork=1", ("XLA", "'xla_zork'")),
    ("backend_optimization_level=high", ("xla_backend_optimization_level", "32-bit", "'high'")),
    ("backend_optimization_level=1.5", ("32-bit", "'1.5'")),
    ("backend_optimization_level=2147483648", ("32-bit", "'2147483648'")),
    ("cpu_enable_fast_math=2", ("xla_cpu_enable_fast_math", "True", "False", "'2'")),
    ("cpu_enable_fast_math=", ("True", "False")),
    ("gpu_auto_spmd_partitioning_memory_budget_ratio=nan", ("0.5", "'nan'")),
    ("step_marker_location=nowhere", ("STEP_MARK_AT_ENTRY",)),
    ("gpu_enable_command_buffer=FUSION,NOPE", ("INVALID", "FUSION")),
    ("backend_extra_options=a", ()),
    ("cpu_enable_fast_math", ("'cpu_enable_fast_math'", "name=value")),
    ("=3", ("'=3'", "name=value")),
]


@pytest.mark.parametrize(("text", "facts"), WRONG_TEXTS)
def test_what_is_wrong_is_told_in_one_line(text: str, facts: tuple[str, ...]) -> None:
    with pytest.raises(OptionError) as caught:
        build([text])
    assert all(fact in str(caught.value) for fact in facts)
    assert "\n" not in str(caught.value)


def test_a_number_of_any_length_is_told() -> None:
    with pytest.raises(OptionError, match="must be a 32-bit integer, not '999"):
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
        ({"dump_to": Path("here")}, {"xla_dump_to": str(Path("here").absolute())}),
        ({}, {}),
    ],
)
def test_values_from_python(given: dict[str, Any], checked: dict[str, Any]) -> None:
    assert check(given) == checked


WRONG_VALUES = [
    ({"dump_to": 3}, ("xla_dump_to", "3")),
    ({"backend_optimization_level": True}, ("32-bit", "True")),
    ({"disable_hlo_passes": 3}, ("3",)),
    ({"fdo_profile": "a.pb"}, ("fdo_profile", "'a.pb'")),
    ({"optimization_level": [1]}, ("optimization_level", "UNKNOWN", "O0", "O1", "O2", "O3", "[1]")),
    ({"memory_fitting_level": 5}, ("memory_fitting_level", "UNKNOWN", "O0", "O1", "O2", "O3", "5")),
    ({"num_replicas": 2}, ("num_replicas=2", "JAX")),
    ({"num_partitions": "many"}, ("num_partitions", "'many'")),
    ({"num_partitions": 0}, ("num_partitions", "0")),
    ({"device_assignment": "0,0"}, ("device_assignment", "0,2,1,3", "'0,0'")),
    ({"device_assignment": 3}, ("device_assignment", "0,2", "3")),
    ({"use_shardy_partitioner": True}, ("use_shardy_partitioner", "JAX")),
    ({"xla_tpu_x": [1]}, ("xla_tpu_x", "[1]")),
    ({3: 4}, ("3",)),
]


@pytest.mark.parametrize(("given", "facts"), WRONG_VALUES)
def test_wrong_values_from_python(given: dict[Any, Any], facts: tuple[str, ...]) -> None:
    with pytest.raises(OptionError) as caught:
        check(given)
    assert all(fact in str(caught.value) for fact in facts)


def test_where_flags_cannot_be_read_xla_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla_flags, "installed", lambda: Flags({}, "the flags of libother.so cannot be read: no"))
    assert build(["xla_zork=true", "xla_step=1"]) == {"xla_zork": True, "xla_step": "1"}
    (note,) = flag_values.notes({"xla_zork": True}, "cpu")
    assert "Compile options are passed to XLA unchecked: the flags of libother.so cannot be read: no." in note
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options={"xla_backend_optimization_level": "0"})
    assert inspection.summary()["options"] == {"xla_backend_optimization_level": "0"}
    with pytest.raises(Exception, match="No such compile option: 'xla_zork'"):
        jaxstage_ext.inspect(f, X, X, compiler_options={"xla_zork": True})


OTHER_BACKENDS = [
    ("xla_gpu_autotune_level", "cpu", ("XLA", "GPU")),
    ("xla_cpu_enable_fast_math", "cuda", ("XLA", "CPU")),
    ("xla_tpu_anything", "cpu", ("TPU",)),
    ("xla_tpu_anything", "tpu", ("TPU",)),
    ("xla_gpu_autotune_level", "rocm", None),
    ("xla_cpu_enable_fast_math", "cpu", None),
    ("xla_dump_to", "cpu", None),
]


@pytest.mark.parametrize(("name", "platform", "facts"), OTHER_BACKENDS)
def test_a_flag_of_another_backend_is_noticed(name: str, platform: str, facts: tuple[str, ...] | None) -> None:
    notes = flag_values.notes({name: 1}, platform)
    assert len(notes) == (facts is not None)
    assert facts is None or all(fact in notes[0] for fact in (name, *facts))


def test_a_note_is_part_of_the_report() -> None:
    inspection = jaxstage_ext.inspect(f, X, X, compiler_options={"gpu_autotune_level": 2})
    (note,) = inspection.summary()["notes"]
    assert [note] == flag_values.notes({"xla_gpu_autotune_level": 2}, "cpu")
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


@pytest.mark.parametrize(
    ("content", "told"), [(b"junk\xff", "neither binary nor text"), (b"#\n", "no instruction costs")]
)
def test_a_damaged_profile_is_noticed(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "fdo.pb").write_bytes(content)
    (note,) = flag_values.notes(build(profile=str(tmp_path / "fdo.pb")), "gpu")
    assert "may be damaged" in note
    assert told in note


def test_a_profile_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name, told in (("none", "no such file"), (".", "is a directory"), ("empty", "is empty")):
        with pytest.raises(OptionError, match=told):
            build(profile=str(tmp_path / name))


# ---- heeded by XLA ---------------------------------------------------------------------------------------------------

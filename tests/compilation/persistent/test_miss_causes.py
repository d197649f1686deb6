"""Why misses missed, with the lines that say so, against what JAX has in the folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from cache_folder import CacheFolder
from jax._src import compilation_cache

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.persistent import cache_wording, miss_causes
from jaxstage_ext.compilation.persistent.cache_report import cache_report
from jaxstage_ext.compilation.persistent.folder_name import folder_name
from jaxstage_ext.compilation.persistent.miss_causes import MissCause
from jaxstage_ext.compilation.records import compile_log
from jaxstage_ext.compilation.records.compile_record import CacheOutcome, PersistentFacts
from jaxstage_ext.panel.requests import compile_cache_requests
from jaxstage_ext.program.kinds.session_view import CompileCacheProgram
from jaxstage_ext.views.compiled import compile_cache_forms

X = np.ones((4, 4), np.float32)
FAST = {"xla_cpu_enable_fast_math": True}


def step(x: Any) -> Any:
    return x @ x


@pytest.fixture
def logged(folder: CacheFolder) -> Iterator[CacheFolder]:
    folder.takes_facts = False
    compile_log.forget()
    listening.start()
    yield folder
    compile_log.forget()


def compile_step(x: Any = X, **jit: Any) -> None:
    jax.clear_caches()
    jax.jit(step, **jit)(x)


def causes() -> list[tuple[int, MissCause, tuple[str, ...]]]:
    """How many misses have each cause, and what differs."""
    return [(len(group.records), group.cause, group.values) for group in cache_report().misses().groups]


def said() -> str:
    return " ".join(compile_cache_forms.text(cache_report(), 160).split())


def test_a_changed_option_is_named_and_the_first_compile_is_not_blamed(logged: CacheFolder) -> None:
    compile_step()
    compile_step(compiler_options=FAST)
    changed = (1, MissCause.DIFFERS, ("xla_cpu_enable_fast_math",))
    assert sorted(causes(), key=str) == [changed, (1, MissCause.NO_EARLIER_ENTRY, ())]
    assert cache_wording.causes_words(cache_report().misses()) in said()


def test_a_report_explains_the_misses_that_it_counts_and_no_later_ones(logged: CacheFolder) -> None:
    compile_step()
    report = cache_report()
    compile_step(compiler_options=FAST)
    assert report.misses().total == 1
    assert cache_report().misses().total == 2


def test_another_shape_is_not_a_change_of_an_option(logged: CacheFolder) -> None:
    compile_step()
    compile_step(np.ones((5, 5), np.float32))
    assert (1, MissCause.DIFFERS, ("StableHLO signature",)) in causes()
    assert "xla_cpu" not in said()


def test_a_removed_entry_is_not_a_changed_key(logged: CacheFolder) -> None:
    compile_step()
    [key] = logged.entries()
    logged.file(key).unlink()
    compile_step()
    assert (1, MissCause.REMOVED, ()) in causes()


def test_the_limit_that_held_and_the_line_that_lifts_it(logged: CacheFolder) -> None:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 60.0)
    compile_step()
    compile_step()
    assert logged.entries() == []
    assert (1, MissCause.NOT_WRITTEN_BEFORE, ()) in causes()
    for written in (said(), compile_cache_forms.html(cache_report()).replace("&quot;", '"')):
        assert 'jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)' in written
    exec('import jax; jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)')
    report = cache_report()
    assert (set(report.tally.limits[CacheOutcome.FASTER_THAN_LIMIT]), report.limits.seconds) == ({60.0}, 0)
    assert "60 s then, 0 s now" in said()
    compile_step()
    assert len(logged.entries()) == 1  # what the line does


def test_states_are_what_this_kernel_saw(logged: CacheFolder) -> None:
    compile_step()
    [entry] = cache_report().entries
    assert entry.was_written_here
    assert "none seen written by this kernel" in said()
    compile_step()
    assert cache_report().table()["state"] == ["verified"]
    assert "this kernel verified" in said()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_entry_that_was_reported_as_damaged_stays_so(logged: CacheFolder) -> None:
    compile_step()
    [key] = logged.entries()
    data = logged.file(key).read_bytes()
    logged.file(key).write_bytes(data[: len(data) // 2])
    compile_step()
    assert cache_report().table()["state"] == ["damaged"]


def test_two_folders_of_the_same_name_are_two(logged: CacheFolder, tmp_path: Path) -> None:
    logged.use(tmp_path / "first" / "cache")
    compile_step()
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "second" / "cache"))
    assert f" {tmp_path}/first/cache " in said() and f" {tmp_path}/second/cache " in said()


def test_names_of_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert folder_name("/home/ann/runs/jax/cache") == "~/runs/jax/cache"
    assert folder_name("/home/ann") == "~"
    assert folder_name("/home/anna/cache") == "/home/anna/cache"
    assert folder_name("/scratch/runs/7/jax/cache") == "/scratch/runs/7/jax/cache"
    assert folder_name("gs://bucket/cache") == "gs://bucket/cache"
    assert folder_name("") == ""


def test_a_folder_that_is_a_file_is_not_called_no_folder(folder: CacheFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder.use(tmp_path / "file")
    with pytest.warns(UserWarning, match="cache"):
        facts = folder.compile(step, X)
    assert (facts.outcome, facts.reason) == (CacheOutcome.OFF, "the folder that is set is a file")


def test_an_empty_setting_has_the_lines_that_set_a_folder(logged: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_dir", None)
    assert 'jax.config.update("jax_compilation_cache_dir", os.path.expanduser("~/.cache/jax"))' in said()


def ask(program: CompileCacheProgram, method: str, **given: Any) -> dict[str, Any]:
    while True:
        answer, _ = compile_cache_requests.METHODS[method]([program], {"call": 0, **given})
        if "pending" not in answer:
            return answer


def test_an_entry_says_how_it_differs_and_who_asked_for_it(logged: CacheFolder) -> None:
    compile_step()
    program = CompileCacheProgram(cache_report())
    compile_step(compiler_options=FAST)
    compile_step(compiler_options=FAST)
    assert ask(program, "compile_cache_refresh") == {"new": 1}
    newest = next(entry for entry in program.report.entries if entry.was_hit_here)
    about = ask(program, "compile_cache_entry", key=newest.key)
    assert any("xla_cpu_enable_fast_math: was" in words for words in about["missed"])
    assert [words.split(" ", 1)[1] for words in about["records"]] == ["written", "hit"]
    assert "fast_math changed" in ask(program, "compile_cache_misses")["words"]


def test_whole_paths_are_in_the_live_answer_alone(logged: CacheFolder) -> None:
    compile_step()
    program = CompileCacheProgram(cache_report())
    assert ask(program, "compile_cache")["folder"] == str(logged.path)
    saved = [
        method([program], {"call": 0, **given})
        for _, given, method in compile_cache_requests.saved_requests(program, 9, 9, 9)
    ]
    assert str(logged.path) not in repr(saved)


@pytest.mark.parametrize(
    ("raised", "cause"),
    [
        (None, MissCause.UNREADABLE),
        (PermissionError(), MissCause.UNREADABLE),
        (FileNotFoundError(), MissCause.REMOVED),
    ],
    ids=["it is there", "the folder is closed", "it is gone"],
)
def test_an_entry_that_is_there_was_not_removed(
    raised: OSError | None, cause: MissCause, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, or an entry, without permission; root, as whom tests may run, has it always."""

    def stat(path: str) -> None:
        if raised is not None:
            raise raised

    monkeypatch.setattr(miss_causes.os, "stat", stat)
    facts = PersistentFacts(CacheOutcome.WRITE_FAILED, "jit_f-00", "/cache")
    assert miss_causes._removed_or_unreadable(facts) is cause

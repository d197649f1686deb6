"""`%compile_cache` as a user types it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax
import pytest
from IPython.core.completer import provisionalcompleter
from jax._src import compilation_cache
from magic_shell import Shell, fresh_shell

from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.persistent import cache_wording, record_store
from jaxstage_ext.compilation.persistent.cache_report import CacheReport
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.kernel_settings import DamagedPolicy


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("JAXSTAGE_RECORDS_DIR", str(tmp_path / "records"))
    record_store.records_of.cache_clear()
    compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "cache"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    yield tmp_path / "cache"
    jax.config.update("jax_compilation_cache_dir", None)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0)
    compilation_cache.reset_cache()
    jax.clear_caches()


def test_the_magic_shows_the_folder_and_returns_the_report(shell: Shell, folder: Path) -> None:
    shell.run("_ = jax.jit(lambda x: x * 41)(x)")
    seen = shell.run("c = %compile_cache\nprint(c)")
    assert cache_wording.headline(shell["c"]) in " ".join(seen.text.split()) and shell["c"].state.folder == str(folder)
    assert f" {folder}\n" in seen.text, "in full, on one line"
    assert len(shell["c"].table()) == len(list(folder.iterdir()))


def test_a_damaged_entry_is_set_aside(shell: Shell, folder: Path) -> None:
    shell.run("_ = jax.jit(lambda x: x * 43)(x)")
    [file] = folder.glob("jit__lambda*")
    file.write_bytes(b"")
    seen = shell.run("%compile_cache --set-aside")
    assert seen.ok
    assert not file.exists()
    assert Path(f"{file}.damaged").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--nope", "%compile_cache has no option --nope; it has --verify and --set-aside"),
        ("folder", "%compile_cache has no argument folder; it has --verify and --set-aside"),
    ],
)
def test_a_mistake_is_one_line(shell: Shell, line: str, said: str) -> None:
    seen = shell.run(f"%compile_cache {line}")
    assert f"UsageError: {said}" in seen.text
    assert "Traceback" not in seen.text


def completed(shell: Shell, typed: str) -> set[str]:
    with provisionalcompleter():
        return {each.text for each in shell.ip.Completer.completions(typed, len(typed))}


def test_completion_and_help(shell: Shell) -> None:
    assert completed(shell, "%compile_cache --") == {"--verify", "--set-aside"}
    assert completed(shell, "c = %compile_cache --v") == {"--verify"}
    documented = shell.ip.find_line_magic("compile_cache").__doc__
    assert "--set-aside" in documented


def test_the_setting(shell: Shell) -> None:
    shell.run("%config JAXStage.damaged_cache_entries = 'set aside'")
    try:
        assert kernel_settings.now().damaged_entries is DamagedPolicy.SET_ASIDE
        shell.run("%config JAXStage.damaged_cache_entries = 'burn'")
        assert kernel_settings.now().damaged_entries is DamagedPolicy.SET_ASIDE
    finally:
        shell.run("%config JAXStage.damaged_cache_entries = 'ask'")
    assert kernel_settings.now().damaged_entries is DamagedPolicy.ASK


def test_the_log_stays_off_where_the_user_turned_it_off(shell: Shell) -> None:
    shell.run("%config JAXStage.compile_log = False")
    try:
        shell.run("c = %compile_cache")
        assert not listening.is_on()
        assert not shell["c"].is_watched and _about_the_log(shell["c"]) in repr(shell["c"])
    finally:
        shell.run("%config JAXStage.compile_log = True")
    watched = shell.run("%compile_cache").value
    assert watched.is_watched and _about_the_log(watched) not in repr(watched)


def _about_the_log(report: CacheReport) -> str:
    """What is said where the compile log is off."""
    off, on = (set(cache_wording.sentences(replace(report, is_watched=is_on))) for is_on in (False, True))
    [sentence] = off - on
    return " ".join(sentence.split()[:5])

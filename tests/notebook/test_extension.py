"""%load_ext, %unload_ext and %reload_ext: what the extension leaves in a shell and in its process."""

from __future__ import annotations

import atexit
import gc
import os
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest
from magic_shell import Shell, fresh_shell
from workers import endless, gone, ping

from jaxstage_ext.notebook import extension
from jaxstage_ext.store import cache
from jaxstage_ext.worker import memory_limit, pool

pytestmark = pytest.mark.usefixtures("workers_of_our_own")
USE = """\
%config JAXStage.cache = False
%config JAXStage.memory = '3GB'
%config JAXStage.cache_dir = '{folder}'
%compile -q {targets} loss(w, x)"""


def state(shell: Shell) -> dict[str, Any]:
    """What an extension can leave behind in a shell and in its process."""
    import jax._src.monitoring as listeners

    ip = shell.ip
    return {
        "magics": {kind: set(table) for kind, table in ip.magics_manager.magics.items()},
        "user magics": set(vars(ip.magics_manager.user_magics)),
        "registry": "StageMagics" in ip.magics_manager.registry,
        "configurables": [type(each).__name__ for each in ip.configurables if _is_ours(each)],
        "events": {name: len(callbacks) for name, callbacks in ip.events.callbacks.items()},
        "transformers": len(ip.input_transformers_cleanup),
        "matchers": len(ip.Completer.custom_matchers),
        "listeners": (len(listeners.get_event_listeners()), len(listeners.get_event_duration_listeners())),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "files": len(os.listdir("/proc/self/fd")),
        "folders": sorted(path.name for path in Path(tempfile.gettempdir()).glob("jaxstage-*")),
        "environment": dict(os.environ),
        "settings": (cache.enabled(), cache._state.disk, memory_limit.default()),
    }


def _is_ours(value: object) -> bool:
    module = type.__dict__["__module__"].__get__(type(value))  # a class's own may be anything at all
    return isinstance(module, str) and module.startswith("jaxstage_ext")


def _kept() -> Counter[str]:
    """The objects of our own types."""
    gc.collect()
    return Counter(type(each).__qualname__ for each in gc.get_objects() if _is_ours(each))


def children() -> set[int]:
    """The processes that this one has started, also those that have ended and were not waited for."""
    return {child.pid for child in psutil.Process().children()}


def test_unloading_leaves_nothing_and_twenty_times_leave_what_one_leaves(tmp_path: Path) -> None:
    pool.close_all()
    of_others = children()
    with fresh_shell() as shell:
        shell.run("%unload_ext jaxstage_ext\nloss(w, x)")
        before = state(shell)
        for cycle in range(20):
            assert shell.run("%load_ext jaxstage_ext").ok
            with_worker = cycle in (0, 1, 19)
            targets = "-t local -t cpu:2" if with_worker else ""
            seen = shell.run(USE.format(folder=tmp_path / "cache", targets=targets))
            assert seen.ok, seen.text
            assert state(shell) != before
            assert bool(pool.running()) == with_worker
            assert shell.run("%unload_ext jaxstage_ext").ok
            assert state(shell) == before
            assert children() <= of_others
            if cycle == 0:
                one = _kept(), atexit._ncallbacks()
        assert (_kept(), atexit._ncallbacks()) == one
        assert "JAXStage" not in shell.run("%config").text


def test_reloading_is_loading_anew() -> None:
    with fresh_shell() as shell:
        before = state(shell)
        for _ in range(3):
            shell.run("%config JAXStage.cache = False")
            assert shell.run("%reload_ext jaxstage_ext").ok
            assert state(shell) == before
            assert "cache=True" in shell.run("%config JAXStage").text.replace("Current: ", "cache=")
        assert shell.run("%compile -q loss(w, x)").ok


@pytest.mark.parametrize("at", ["before the import", "while it loads"])
def test_a_reload_that_is_interrupted_says_so_and_leaves_nothing(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython unloads, imports the package again, and loads."""
    with fresh_shell() as shell:
        shell.run("%unload_ext jaxstage_ext")
        unloaded = state(shell)
        shell.run("%load_ext jaxstage_ext")

        def interrupt(*_: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            if at == "before the import":
                patch.setattr("IPython.core.extensions.reload", interrupt)
            else:
                patch.setattr(extension, "_add_magics", interrupt)
            seen = shell.run("%reload_ext jaxstage_ext")
        assert isinstance(seen.error, KeyboardInterrupt)
        assert "%load_ext jaxstage_ext loads it" in seen.text
        assert state(shell) == unloaded
        assert shell.run("%load_ext jaxstage_ext\n%compile -q loss(w, x)").ok
        assert "interrupted" not in shell.run("1").text


def test_magics_of_the_same_name_come_back_and_those_of_others_stay() -> None:
    with fresh_shell() as shell:
        ip = shell.ip
        shell.run("%unload_ext jaxstage_ext")
        ip.register_magic_function(lambda line: "mine", "line", "trace")
        assert shell.run("%load_ext jaxstage_ext\n%trace -q loss(w, x)").value is None
        ip.register_magic_function(lambda line: "theirs", "line", "targets")
        shell.run("%unload_ext jaxstage_ext")
        assert shell.run("%trace").value == "mine"
        assert shell.run("%targets").value == "theirs"


def test_what_somebody_else_has_removed_does_not_stop_the_unloading() -> None:
    with fresh_shell() as shell:
        ip = shell.ip
        ip.input_transformers_cleanup.clear()
        ip.Completer.custom_matchers.clear()
        ip.events.callbacks["post_run_cell"].clear()
        assert shell.run("%unload_ext jaxstage_ext").ok
        assert not ip.events.callbacks["pre_run_cell"]
        assert "not found" in shell.run("%compile loss(w, x)").text
        ip.input_transformers_cleanup[:] = ip.input_transformer_manager.cleanup_transforms


def test_unloading_ends_a_request_under_way() -> None:
    pool.close_all()
    of_others = children()
    failures: list[Exception] = []
    started = threading.Event()

    def compile_for_minutes() -> None:
        try:
            pool.ask("cpu", endless(), progress=lambda seconds, text: started.set())
        except Exception as error:
            failures.append(error)

    with fresh_shell() as shell:
        pid = ping()
        thread = threading.Thread(target=compile_for_minutes, daemon=True)
        thread.start()
        assert started.wait(60)
        shell.run("%unload_ext jaxstage_ext")
        thread.join(60)
        assert not thread.is_alive()
        assert [getattr(error, "cause", "") for error in failures] == ["stopped"]
        assert gone(pid)
        assert children() <= of_others


def test_listeners_that_the_user_clears_come_back() -> None:
    """Without them a stage took no event's time, which means that JAX had its result already."""
    with fresh_shell() as shell:
        shell.run("%compile -q loss(w, x)\njax.monitoring.clear_event_listeners()")
        shell.run("%compile -q -o ins (lambda x: x * 17.25)(x)")
        assert [stage.hit for stage in shell["ins"].program.staged.stages] == [None] * 3

"""`%findings` as a user types it: all inspections of a session, and its recompiles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from heard_compiles import heard_compiles
from IPython.core.completer import provisionalcompleter
from magic_shell import Shell, fresh_shell

from jaxstage_ext.findings import finding_wording
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn
from jaxstage_ext.findings.session_findings import SessionFindings
from jaxstage_ext.panel.showing import display

PROGRAMS = """
from jax import lax
buf, places = jnp.zeros(200_000), jnp.arange(60)
def shift(buf, i):
    new = buf.at[i].set(1.0)
    return new, new[i] + buf[i + 1]
def run(buf, places):
    return lax.scan(shift, buf, places)
def tidy(x):
    return jnp.sin(x).sum()
"""


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    """Panels that other tests of this process left live are no inspections of this session."""
    shown, others = display.live_panels, {model for model, *_ in display.live_panels()}
    with pytest.MonkeyPatch.context() as patch, heard_compiles(), fresh_shell() as made:
        patch.setattr(display, "live_panels", lambda: [each for each in shown() if each[0] not in others])
        made.run(PROGRAMS)
        yield made


def test_without_an_inspection_it_says_how_to_begin(shell: Shell) -> None:
    found = shell.run("%findings").value
    assert isinstance(found, SessionFindings) and found.programs == 0


def test_the_findings_of_all_inspections_are_ranked(shell: Shell) -> None:
    shell.run("%compile -q -o bad run(buf, places)")
    shell.run("%compile -q -o good tidy(buf)")
    found = shell.run("f = %findings\nf").value
    assert found.programs == 2 and not found.failures
    kinds = [one.finding.kind for one in found]
    assert kinds[0] is FindingKind.CARRY_COPY and found[0].where.startswith("run")
    shares = [one.finding.stake.share or 0.0 for one in found]
    assert shares == sorted(shares, reverse=True)
    assert list(found.table["kind"]) == [kind.value for kind in kinds]
    assert found.headline in str(found) and "<table" in found._repr_html_()
    first = found[0].finding
    assert isinstance(first, FoundIn) and first.try_().outcome in (TrialOutcome.PAYS, TrialOutcome.NO_GAIN)
    assert found[0].tried


def test_what_was_inspected_twice_is_told_once(shell: Shell) -> None:
    before = shell.run("%findings bad").value
    shell.run("%compile -q -o bad2 run(buf, places)")
    again = shell.run("%findings bad bad2").value
    assert again.programs == 2 and len(again) == len(before)


def test_recompiles_of_functions_that_nobody_inspected(shell: Shell) -> None:
    shell.run(
        "@jax.jit\ndef step(x, n): return jnp.sin(x) * n\nstep(buf, 1); step(buf, jnp.float32(2)); step(buf, 2.0)"
    )
    shell.run("for n in range(3): jax.jit(lambda x: x * n)(buf)")
    found = shell.run("%findings").value
    log = [one for one in found if one.finding.kind is FindingKind.RECOMPILE]
    assert log and all(one.where == finding_wording.COMPILE_LOG for one in log)
    assert all(one.finding.stake.measure is StakeMeasure.COMPILE for one in log)
    assert all(one.finding.stake.whole == pytest.approx(found.compiling) for one in log)
    assert sum(one.finding.stake.most or 0.0 for one in log) <= found.compiling


def test_what_only_compiled_is_told_unless_an_inspection_tells_it(shell: Shell) -> None:
    shell.run(
        "import numpy as np\ntable = np.arange(4e6, dtype=np.float32)\ndef look_up(i): return jnp.asarray(table)[i]"
    )
    shell.run("jax.jit(look_up)(3)")
    shell.run("jax.jit(run)(buf, places)")
    every = [(one.finding.kind, one.where) for one in shell.run("%findings").value]
    assert next(where for kind, where in every if kind is FindingKind.CAPTURED_CONSTANT).startswith("look_up, In [")
    assert sum(kind is FindingKind.CARRY_COPY for kind, _ in every) == 1
    assert not [one for one in shell.run("%findings good").value if one.where.startswith("look_up")]


def test_all_compiles_for_what_was_not_looked_for(shell: Shell) -> None:
    assert FindingKind.COLLECTIVE not in shell.run("%findings --all good").value.waiting


@pytest.mark.parametrize(
    ("line", "said"),
    [("--nope", "%findings has no option --nope; it has --all"), ("zork", "%findings zork: no Inspection")],
)
def test_a_mistake_is_one_line(shell: Shell, line: str, said: str) -> None:
    seen = shell.run(f"%findings {line}")
    assert f"UsageError: {said}" in seen.text and "Traceback" not in seen.text


def completed(shell: Shell, typed: str) -> set[str]:
    with provisionalcompleter():
        return {each.text for each in shell.ip.Completer.completions(typed, len(typed))}


def test_completion_and_help(shell: Shell) -> None:
    assert completed(shell, "%findings --") == {"--all"}
    assert "good" in completed(shell, "f = %findings goo")
    assert "--all" in shell.ip.find_line_magic("findings").__doc__

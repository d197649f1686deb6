"""Cases that wait for `make test-all`, and why a push does without them: what each says is said by another that runs.

A key is a file of tests/, or FILE::TEST for all its cases, or FILE::TEST[CASES] with * for any text. A single test
that is slow by itself has `@pytest.mark.seldom(reason)` beside it; here stand the further cases of what is run.
"""

from __future__ import annotations

import re
from functools import cache

DARK = "test_legible.py reads every tab in the dark"
CROSSED = "narrow in the dark and wide in the light run"
SEEDS = "three seeds of made programs run"
SELDOM: dict[str, str] = {
    # ---- the browser: what is drawn is one code in all hosts, themes and widths
    "browser/test_answers.py::test_five_questions_of_a_newcomer[h100:8]": "the same walk for v5e:4x4 runs",
    "browser/test_inspect_cell.py::*[notebook7]": "the button is one code; test_notebook7.py says that it is there",
    "browser/test_cell_lines.py::test_notebook_7_marks_lines_too": "marks are one code; JupyterLab's run",
    "browser/test_side_panel.py::test_it_is_in_notebook_7_too": "the side panel is one code; JupyterLab's runs",
    "browser/test_extension.py::test_notebook_7_is_as_jupyterlab": "test_reopen.py and test_notebook7.py run there",
    "browser/test_extension.py::test_a_fresh_kernel_shows_what_was_saved": "test_reopen.py walks through its tabs",
    "browser/test_extension.py::test_an_untrusted_notebook_shows_what_was_saved": "as test_reopen.py's untrusted",
    "browser/test_reopen.py::test_page_reload_where_the_last_run_was_not_saved": "a reload with a saved run is walked",
    "browser/test_payloads_live.py::test_in_what_a_live_panel_and_a_saved_notebook_show_they_stay_text": (
        "the same texts in what a kernel saved, tab by tab, are in test_payloads_saved.py; what draws them is one code"
    ),
    "browser/test_exported.py::test_executed_by_nbconvert_it_is_the_same": "a saved one's form is read",
    "browser/test_exported.py::test_a_host_that_strips_styles_and_scripts_shows_all_of_it[without images]": (
        "with images, which is what GitHub does, it runs"
    ),
    "browser/test_exported.py::test_nbconvert_to_latex_has_the_text_that_a_pdf_is_made_of": "Markdown too",
    "browser/test_accessibility.py::test_every_tab_keeps_the_rules_of_colours_in_the_dark": (
        "colours in the dark are in test_legible.py, and the rules in the light run"
    ),
    "browser/test_accessibility.py::test_the_offline_page_keeps_the_rules[dark]": "in the light it runs",
    "browser/test_cost.py::test_every_section_of_a_transformer_step[*Dark]": DARK,
    "browser/test_findings_view.py::*[Dark]": DARK,
    "browser/test_lanes.py::*[Dark]": DARK,
    "browser/test_machine.py::*[Dark]": DARK,
    "browser/test_passes_view.py::*[Dark]": DARK,
    "browser/test_shardings_view.py::*[Dark]": DARK,
    "browser/test_memory_view.py::test_both_themes": DARK,
    "browser/test_life.py::test_dark_theme_and_a_narrow_cell": DARK,
    "browser/test_timeline_tables.py::test_both_themes_and_a_narrow_window": DARK,
    "browser/test_legible.py::*[Light-900]": CROSSED,
    "browser/test_legible.py::*[Dark-1400]": CROSSED,
    "browser/test_compiles_view.py::*[Light-900]": CROSSED,
    "browser/test_compiles_view.py::*[Dark-1400]": CROSSED,
    "browser/test_timeline_view.py::*[Light-900]": CROSSED,
    "browser/test_timeline_view.py::*[Dark-1400]": CROSSED,
    # ---- what takes processes and compilers
    "core/targets/test_compile_environments.py::test_options_of_libtpu_that_change_in_between_have_modules_and_*": (
        "four kernels; that a worker and a key have one environment is in the tests beside it"
    ),
    "truth/test_one_figure.py::*[seed 3*": SEEDS,
    "truth/test_one_figure.py::*[seed 4*": SEEDS,
    "truth/test_one_figure.py::*[seed 5*": SEEDS,
    "worker/test_worker_deaths.py::*[Signals.SIGBUS]": "a signal is a signal: three others run",
}


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(as_pattern(key) for key in SELDOM)


def as_pattern(key: str) -> re.Pattern[str]:
    """The names of tests, relative to tests/, that a key stands for."""
    return re.compile(re.escape(key).replace(r"\*", ".*") + ("" if key.endswith("]") else r"(?:$|\[|::)"), re.DOTALL)


def is_seldom(name: str) -> bool:
    """Whether a test waits, by its name relative to tests/."""
    return any(pattern.match(name) for pattern in patterns())

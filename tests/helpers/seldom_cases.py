"""Cases that wait for `make test-all`, and why a push does without them: what each says is said by another that runs.

A key is a file of tests/, or FILE::TEST for all its cases, or FILE::TEST[CASES] with * for any text. A single test
that is slow by itself has `@pytest.mark.seldom(reason)` beside it; here stand the further cases of what is run.
"""

from __future__ import annotations

import re
from functools import cache

DARK = "test_legible.py reads every tab in the dark"
CROSSED = "narrow in the dark and wide in the light run"
FAULTS = "two of the faults that the oracle must see run"
LINKED = "the panes link through one join: from Python and from HLO it is tried"
SEEDS = "three seeds of made programs run"
SELDOM: dict[str, str] = {
    # ---- the browser: what is drawn is one code in all hosts, themes and widths
    "browser/test_answers.py::test_five_questions_of_a_newcomer[h100:8]": "the same walk for v5e:4x4 runs",
    "browser/test_inspect_cell.py::*[notebook7]": "the button is one code; test_notebook7.py says that it is there",
    "browser/test_cell_lines.py::test_notebook_7_marks_lines_too": "marks are one code; JupyterLab's run",
    "browser/test_side_panel.py::test_it_is_in_notebook_7_too": "the side panel is one code; JupyterLab's runs",
    "browser/test_extension.py::test_notebook_7_is_as_jupyterlab": "test_notebook7.py runs there",
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
    "browser/test_accessibility.py::test_every_part_of_a_tab_keeps_the_rules": "as they open they are read",
    "browser/test_accessible_views.py::test_in_the_dark_their_colours_keep_the_rules": DARK,
    "browser/test_reopen.py::test_notebook_7": "test_notebook7.py runs there, and JupyterLab's reopen",
    "browser/test_reopen.py::test_saved_without_the_extension_and_opened_with_it[trusted]": "untrusted it runs",
    "browser/test_reopen.py::test_saved_with_the_extension_and_opened_without_it[trusted]": "untrusted it runs",
    "browser/test_reopen.py::test_without_the_extension_a_live_kernel_still_has_the_panel": (
        "test_extension.py has the code that a kernel sends"
    ),
    "browser/test_reopen.py::test_page_reload_with_a_live_kernel": "test_extension.py reloads with a live kernel",
    "browser/test_life.py::test_after_a_reload_the_panel_is_there_and_alive": "test_extension.py reloads and goes on",
    "browser/test_life.py::test_two_panels_on_one_function_each_have_their_own_selection": (
        "two panels of one page are drawn in test_extension.py"
    ),
    "browser/test_payloads_saved.py::test_in_every_text_of_a_saved_report_they_stay_text[at once]": (
        "in every field they are tried in test_payloads.py, and in every text of what a kernel saved"
    ),
    "browser/test_side_panel.py::test_it_follows_a_run": "that it lists what was run is read in the walk by keyboard",
    "browser/test_several.py::test_notebooks_of_one_kernel_each_mark_their_cells": "two notebooks of one text run",
    "browser/test_cell_lines.py::test_a_copy_of_the_notebook_is_not_marked": "two notebooks of one text run",
    "browser/test_memory_view.py::test_absent_devices*": (
        "test_answers.py opens the memory of a v5e:4x4; the spaces are in program/test_program_memory.py"
    ),
    "browser/test_memory_view.py::test_a_run_that_dies_of_memory_opens_on_what_takes_it": "a compile that does runs",
    "browser/test_shardings_view.py::test_a_thousand_devices": "how they are folded is in the tests of labextension",
    "browser/test_shardings_view.py::test_a_torus_and_a_mesh_of_three_axes*": "a slice of a pod runs",
    "browser/test_cost.py::test_the_jaxpr_is_counted_too_and_leads_to_its_line": "what was only traced has that count",
    "browser/test_timeline_view.py::*[Dark-900]": DARK,
    "browser/test_timeline_view.py::test_two_fingers_zoom_and_one_moves": "zoom and moving by mouse and keys run",
    "browser/test_legible.py::*[Light-1400]": "narrow in the dark runs, and axe reads the light",
    "browser/test_exported.py::test_nbconvert_to_html_shows_the_static_form": "test_saved.py converts too",
    "browser/test_compare.py::test_a_tpu_that_is_not_here_beside_cpus": "targets side by side run",
    "browser/test_libraries.py::test_a_frame_of_the_stack_opens_its_library": "the lines of a library are opened",
    "browser/test_files.py::test_a_module_of_a_dump_has_its_tabs": "a lowered object of a file runs",
    "browser/test_machine.py::test_ptx_beside_sass*": "kernels and their code run; PTX is in program/",
    "browser/test_payloads.py::test_what_takes_them_for_markup_is_a_fault[<*p title=*": FAULTS,
    "browser/test_payloads.py::test_what_takes_them_for_markup_is_a_fault[<style>*": FAULTS,
    "browser/test_reopen.py::test_a_report_of_another_version_says_what_it_needs_*[2*": "an older one runs",
    "browser/test_linking.py::*[stablehlo]": LINKED,
    "browser/test_linking.py::*[jaxpr]": LINKED,
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

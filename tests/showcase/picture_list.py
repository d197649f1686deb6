"""Every picture of a notebook's panel. What a newcomer wants to see of each notebook comes first."""

from __future__ import annotations

from tests.showcase.picture import Picture

_FUSIONS = "sum(' fusion(' in hlo.lines[n - 1] for n in hlo.lines_from(span.file, span.line))"

PICTURES = (
    Picture(
        "first_look",
        "01_first_look",
        "first-look-3",
        "The Code tab, with the line of the softmax selected",
        "code",
        f"f'p = jax.nn.softmax(h) became {{{_FUSIONS}}} fusions of the optimised HLO.'",
        clicks=('[data-doc="python"] [data-row]:has-text("softmax") .jxs-num',),
    ),
    Picture(
        "passes",
        "03_what_the_compiler_did",
        "compiler-2",
        "The Passes tab, with the pass that makes fusions",
        "passes",
        "f'{len(ins.passes)} passes, {len(ins.passes.changed)} of them changed the module.'",
        clicks=('.jxs-pass[role="option"]:has-text("fusion")',),
    ),
    Picture(
        "machine_code",
        "03_what_the_compiler_did",
        "compiler-2",
        "The Machine code tab",
        "machine",
        "str(ins.kernels).splitlines()[0]",
    ),
    Picture(
        "findings",
        "04_where_the_time_and_memory_go",
        "where-6",
        "The Findings tab of a flax transformer's training step for an H100",
        "findings",
        "f'{ins.findings[0].text} The change: {ins.findings[0].change.in_line if ins.findings[0].change else \"\"}'",
    ),
    Picture(
        "answers",
        "04_where_the_time_and_memory_go",
        "where-6",
        "The Answers tab of a flax transformer's training step for an H100",
        "answers",
        "' '.join(list(ins.answers['answer'])[:3])",
    ),
    Picture(
        "memory",
        "04_where_the_time_and_memory_go",
        "where-6",
        "The Memory tab",
        "memory",
        "ins.memory.fit.text",
    ),
    Picture(
        "collectives",
        "05_sharding_and_collectives",
        "sharding-4",
        "The Collectives tab of two matrix products on eight devices",
        "collectives",
        "str(ins.collectives).splitlines()[0]",
    ),
    Picture(
        "shardings",
        "05_sharding_and_collectives",
        "sharding-4",
        "The Shardings tab, with the map of one matrix",
        "shardings",
        'next(f\'{row["value"]} is sharded {row["sharding"]}, chosen by {row["chosen by"]}, each part on'
        " {row[\"copies\"]} devices.' for row in ins.shardings.table.rows() if row['value'] == 'down')",
        clicks=('[role="row"]:has-text("down")',),
    ),
    Picture(
        "predicted",
        "05_sharding_and_collectives",
        "sharding-30",
        "The predicted timeline of gradients on eight H100s",
        "timeline",
        "next(line for line in str(by_batch.predicted).splitlines() if 'nothing ran' in line)",
    ),
    Picture(
        "timeline",
        "06_profile_a_step",
        "c16",
        "The Timeline tab of a training loop",
        "timeline",
        'next(f\'the device idles while the host {row["host"]} ({row["line"]}).\''
        " for row in slow.timeline.gaps().rows() if 'sleep' in str(row['host']))",
    ),
    Picture(
        "recompile",
        "07_why_did_it_compile_again",
        "c04",
        "The compile log of one cell",
        "compiles",
        "f'step compiled again: {history.why(history.only(function=\"step\").records[-1])}.'",
    ),
    Picture(
        "compiles",
        "07_why_did_it_compile_again",
        "c20-panel",
        "The compile log of a notebook with twelve classic mistakes",
        "compiles",
        "f'{len(history.recompiles())} programs were compiled again, each for a reason that the log gives.'",
    ),
    Picture(
        "options",
        "08_what_was_xla_given",
        "c04",
        "The Options tab of a training step",
        "options",
        '\', \'.join(f\'{row["option"]} is {row["value"]} by {row["from"]}\' for row in ins.options.rows()'
        " if row['from'] != 'JAX') + '; JAX set the others.'",
    ),
    Picture(
        "tried",
        "09_what_should_i_change",
        "change-04",
        "The Findings tab of a training step, with what each change gave when it was tried",
        "findings",
        "f'{donation.text} {donation.try_().text}'",
        clicks=('[data-kind="missing donation"] .jxs-finding-head', '.jxs-current button:has-text("Try it")'),
    ),
    Picture(
        "which_sharding",
        "10_which_sharding",
        "which-05",
        "The map of the layouts of a training step on eight v5e chips",
        "sharding_search",
        "' '.join(str(layouts).split()).split('. ')[0] + '.'",
    ),
    Picture(
        "processes",
        "11_several_processes",
        "processes-11",
        "The panel of a step compiled in two processes",
        "code",
        "differ.processes.verdict",
    ),
    Picture(
        "compare",
        "02_hardware_you_do_not_have",
        "hardware-18",
        "The Compare tab of one training step on four machines of eight devices",
        "compare",
        "'Does it fit? ' + ', '.join(f'{row[\"target\"]}: {row[\"fits\"]}' for row in first.compare().rows()"
        " if not row['target'].startswith('cpu'))",
    ),
)

COMPILERS = {
    **dict.fromkeys(("findings", "answers", "memory", "predicted"), ("cuda",)),
    "which_sharding": ("tpu",),
    "compare": ("cuda", "tpu"),
}
"""The compilers of devices that are not here, as `packages.find` names them, without which a picture is another."""

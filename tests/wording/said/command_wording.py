"""What the command line says."""

from wordings import constants

from jaxstage_ext.command import command_wording as wording

SAID = {
    **constants(wording),
    "what is run": wording.runs("train.py", "step(params, batch)"),
    "no file": wording.no_file("train.py"),
    "not Python": wording.not_python("train.txt"),
    "import failed": wording.import_failed("train.py", "line 2: ValueError: no data"),
    "ended itself": wording.ended_itself("train.py", 2),
    "not a call": wording.not_a_call("step"),
    "no such name": wording.no_name("bach", "train.py", ["batch", "step"]),
    "no names at all": wording.no_name("bach", "train.py", []),
    "arguments failed": wording.arguments_failed("step([][1])", "IndexError: list index out of range"),
    "not staged": wording.not_staged("step(x)", "trace failed at train.py:4: TypeError: shapes differ"),
    "threshold": wording.bad_threshold("sometimes", ["promotion", "collective"]),
    "reached": wording.failed(2, "5%"),
    "not judged": wording.not_judged(1),
    "two kinds": wording.not_alike("Inspection", "ShownTimeline"),
    "no page": wording.no_page("Table"),
    "threads": wording.threads_left(["forever"]),
}

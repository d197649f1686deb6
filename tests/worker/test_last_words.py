"""What a worker said last: the end of its log, without stacks and mere information."""

from __future__ import annotations

from pathlib import Path

from jaxstage_ext.worker import folder

NOISE = "I1121 13:21:36.964749   17750 a.cc:1] information\n    @     0x7f main\n*** Check failure stack trace: ***\n\n"


def test_the_last_lines_that_mean_something_are_kept_in_their_order(tmp_path: Path) -> None:
    said = [f"E1121 13:21:37 error {number}" for number in range(20)]
    (tmp_path / folder.LOG).write_text(NOISE.join(f"{line}\n" for line in said) + NOISE)
    assert folder.last_words(tmp_path).splitlines() == said[-8:]


def test_a_long_line_is_cut_and_no_log_says_nothing(tmp_path: Path) -> None:
    assert folder.last_words(tmp_path) == ""
    (tmp_path / folder.LOG).write_text("F" * 1000)
    assert folder.last_words(tmp_path) == "F" * 300

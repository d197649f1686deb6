"""The tables of stack frames that XLA prints."""

from __future__ import annotations

from jaxstage_ext.ir.passes import frame_tables

PRINTED = r"""FileNames
1 "/tmp/cell \"a\".py"
2 "lib.py"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=4 end_line=5 column=6 end_column=18}
2 {file_name_id=2 line=7}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
"""


def test_the_tables_as_xla_prints_them() -> None:
    index = frame_tables.read(PRINTED.split("\n"))
    assert index.file_names == ['/tmp/cell "a".py', "lib.py"]
    assert index.function_names == ["<module>"]
    assert index.file_locations == [frame_tables.FilePlace(1, 1, 4, 6, 5, 18), frame_tables.FilePlace(2, 0, 7, 0, 0, 0)]
    assert index.stack_frames == [frame_tables.Frame(1, 0), frame_tables.Frame(2, 1)]


def test_no_tables() -> None:
    index = frame_tables.read([])
    assert index.stack_frames == index.file_names == []

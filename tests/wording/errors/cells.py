"""What is wrong with a cell's magic, its options, its call or its mesh."""

from error_text import settled
from magic_shell import fresh_shell

from tests.notebook import test_cell_request, test_compile_options, test_mesh_arguments

CELLS = [
    *(cell for cell, _ in test_cell_request.MISTAKES),
    *(cell for cell, _ in test_compile_options.MISTAKES),
    *(
        test_mesh_arguments.START.format(line=line).strip()
        for line, _ in (*test_mesh_arguments.MISTAKES, *test_mesh_arguments.NO_PYTHON)
    ),
]
with fresh_shell() as shell:
    SAID = {cell: settled(shell.run(cell).text.strip()) for cell in CELLS}

"""What each operation does, by kind of document."""

from jaxstage_ext.ir.operation_help import HELP

SAID = {f"{kind}: {operation}": sentence for kind, its in HELP.items() for operation, sentence in its.items()}

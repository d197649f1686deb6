"""Arguments that were traced with another dtype, or deleted."""

from jaxstage_ext.program.head.argument_wording import deletion, narrowing
from jaxstage_ext.program.head.call_arguments import Narrowed

SAID = {
    "one array": narrowing([Narrowed("x", "float64", "float32")]),
    "five arrays of two dtypes": narrowing(
        [*(Narrowed(name, "float64", "float32") for name in "abcd"), Narrowed("n", "int64", "int32")]
    ),
    "one deleted": deletion(["x"]),
    "two deleted": deletion(["x", "y"]),
    "none deleted": deletion([]),
}

"""StableHLO texts of the programs by which a CPU's ceilings are measured. They take no arguments."""

from __future__ import annotations

PRODUCTS = {"f32": "f32", "bf16": "bf16", "f64": "f64", "s8": "i8", "f16": "f16"}
"""StableHLO's name of each dtype, the most used first: where time is short the last ones are left out."""
SIZES = (1024, 2048)
"""Of square matrices that are multiplied."""
FUNCTIONS = (("exponential", "log", "tanh"), ("power", "erf"), ("sine",))
"""Operations that are easy, hard and very hard to compute."""
ELEMENTS = 1 << 19
"""Of the f32 array whose functions are computed."""


REPEATED = 3
"""Products that one program computes."""


def products(dtype: str, size: int) -> str:
    """The products of two square matrices: of one with the other, the other way round, and of one with itself."""
    name = PRODUCTS[dtype]
    operand, result = f"tensor<{size}x{size}x{name}>", f"tensor<{size}x{size}x{'i32' if name == 'i8' else name}>"
    pairs = (("a", "b"), ("b", "a"), ("a", "a"))
    lines = [
        f"%rows = stablehlo.iota dim = 0 : {operand}",
        f"%columns = stablehlo.iota dim = 1 : {operand}",
        f"%a = stablehlo.minimum %rows, %columns : {operand}",
        f"%b = stablehlo.maximum %rows, %columns : {operand}",
    ]
    kind = f"contracting_dims = [1] x [0] : ({operand}, {operand}) -> {result}"
    lines += [f"%r{at} = stablehlo.dot_general %{x}, %{y}, {kind}" for at, (x, y) in enumerate(pairs)]
    returned = ", ".join(f"%r{at}" for at in range(REPEATED)) + " : " + ", ".join([result] * REPEATED)
    body = "\n".join((*lines, f"return {returned}"))
    return f"func.func public @main() -> ({', '.join([result] * REPEATED)}) {{\n{body}\n}}\n"


def function(name: str) -> str:
    """A function of numbers between 0.1 and 0.9."""
    kind = f"tensor<{ELEMENTS}xf32>"
    return _main(kind, *_below_one(kind), _applied(name, kind))


def _applied(name: str, kind: str) -> str:
    if name == "power":
        return f"%r = stablehlo.power %x, %x : {kind}"
    return f"%r = chlo.erf %x : {kind} -> {kind}" if name == "erf" else f"%r = stablehlo.{name} %x : {kind}"


def _below_one(kind: str) -> tuple[str, ...]:
    return (
        f"%i = stablehlo.iota dim = 0 : {kind}",
        f"%s = stablehlo.constant dense<{0.8 / ELEMENTS:.3e}> : {kind}",
        f"%o = stablehlo.constant dense<0.1> : {kind}",
        f"%m = stablehlo.multiply %i, %s : {kind}",
        f"%x = stablehlo.add %m, %o : {kind}",
    )


def scaled_apart(elements: int, often: int) -> str:
    """An f32 array that is filled and scaled so often, by all cores each time; where XLA heeds barriers."""
    kind = f"tensor<{elements}xf32>"
    lines = [
        f"%h = stablehlo.constant dense<0.5> : {kind}",
        f"%o = stablehlo.constant dense<1.0> : {kind}",
        f"%i = stablehlo.iota dim = 0 : {kind}",
        f"%x0 = stablehlo.optimization_barrier %i : {kind}",
    ]
    for at in range(often):
        lines += [
            f"%m{at} = stablehlo.multiply %x{at}, %h : {kind}",
            f"%s{at} = stablehlo.add %m{at}, %o : {kind}",
            f"%x{at + 1} = stablehlo.optimization_barrier %s{at} : {kind}",
        ]
    return _main("tensor<1xf32>", *lines, f"%r = stablehlo.slice %x{often} [7:8] : ({kind}) -> tensor<1xf32>")


def scaled(elements: int, often: int) -> str:
    """An f32 array that is filled, scaled in place so often by one core, and of which one element is left."""
    kind = f"tensor<{elements}xf32>"
    return _main(
        "tensor<1xf32>",
        f"%a = stablehlo.iota dim = 0 : {kind}",
        f"%h = stablehlo.constant dense<0.5> : {kind}",
        f"%o = stablehlo.constant dense<1.0> : {kind}",
        "%zero = stablehlo.constant dense<0> : tensor<i32>",
        "%one = stablehlo.constant dense<1> : tensor<i32>",
        f"%last = stablehlo.constant dense<{often}> : tensor<i32>",
        f"%n, %made = stablehlo.while(%j = %zero, %x = %a) : tensor<i32>, {kind}",
        "cond {",
        "%c = stablehlo.compare LT, %j, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "stablehlo.return %c : tensor<i1>",
        "} do {",
        "%k = stablehlo.add %j, %one : tensor<i32>",
        f"%m = stablehlo.multiply %x, %h : {kind}",
        f"%s = stablehlo.add %m, %o : {kind}",
        f"stablehlo.return %k, %s : tensor<i32>, {kind}",
        "}",
        f"%r = stablehlo.slice %made [7:8] : ({kind}) -> tensor<1xf32>",
    )


def _main(result: str, *lines: str) -> str:
    body = "\n".join((*lines, f"return %r : {result}"))
    return f"func.func public @main() -> {result} {{\n{body}\n}}\n"

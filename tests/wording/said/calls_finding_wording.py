"""Findings that cost host time, or the result, of every call."""

from wordings import constants

from jaxstage_ext.findings.calls import calls_finding_wording as wording

NODES = {"Cell": 1990, "Norm": 8, "Bias": 2, "Head": 1}

SAID = {
    **constants(wording),
    "flattens": wording.flattens(NODES, ["params", "state"], 0.0021, 0.0001),
    "flattens, of one argument": wording.flattens({"Cell": 1}, ["w"], 0.0003, 0.00001),
    "flatten once": wording.flatten_once("decode", ["w"], ["w", "x"], {}),
    "flatten once, several": wording.flatten_once(
        "step",
        ["params", "state"],
        ["config", "params", "state", "x"],
        {"static_argnums": (0,), "donate_argnums": (1,)},
    ),
    "hashes": wording.hashes("config", "Config", 0.002),
    "pass values": wording.pass_values("loss", ["w", "x"], ["rate", "config.sizes[0]"]),
    "pass values of an argument": wording.pass_values("step", ["self", "x"], ["self.gain"]),
    "pass values of a function in the call": wording.pass_values("body", [], ["k"]),
    "copied from the host": wording.copied_from_host(["x"], 100_000_000, 0.074),
    "copied from the host, many": wording.copied_from_host([f"w[{i}]" for i in range(5)], 100_000_000, 0.074),
    "moved": wording.moved(["batch"], 4_000_000, "resharded"),
    "moved, several": wording.moved(["batch", "w"], 4_000_000, "copied to another device"),
    "put once": wording.put_once(["w['a']", "w['b']", "x"], ""),
    "put once, sharded": wording.put_once(["batch"], "NamedSharding(mesh, P('data'))"),
    "put once, many": wording.put_once(["a", "b", "c", "d", "e"], ""),
    "nondeterministic": wording.nondeterministic(1, ["scatter-add"], 2e-6, 5e-6),
    "nondeterministic, several": wording.nondeterministic(2, ["scatter-add", "scatter-mul"], None, None),
    "with option": wording.with_option("train", "xla_gpu_exclude_nondeterministic_ops"),
    "reused key": wording.reused_key("key", "uniform", "normal", "In [3]:4"),
    "reused key of the program": wording.reused_key("", "uniform", "normal", ""),
    "reused key in a loop": wording.reused_key("key", "scan", "", ""),
    "split key": wording.split_key("key", "uniform", False, "train.py:5"),
    "split key of a state": wording.split_key("state['rng']", "uniform", False),
    "split key in a loop": wording.split_key("key", "scan", True),
    "bind once": wording.bind_once("step", "config"),
    "drawn alike": wording.drawn_alike("bernoulli", "data", 8),
    "own key": wording.own_key("data"),
    "nnx.jit": wording.traverses(("net",), 0.0016),
    "nnx.jit: several": wording.traverses(("net", "optimizer"), 0.0016),
    "cached partial": wording.cached_partial("step", ("net", "optimizer"), ("x", "y")),
    "split once": wording.split_once(),
    "filter_jit": wording.flattens_modules(("model",), 0.0004),
    "arrays of modules": wording.arrays_of_modules("step", ("model", "state"), ("model", "state", "x")),
    "eager": wording.runs_eagerly("step", 80),
    "jit it": wording.jit_it("step", False),
    "jit it: an expression": wording.jit_it("jax.grad(loss)", True),
    "jit it: transformed": wording.jit_it("loss", True),
}

import { parser } from "@lezer/python";
import { expect, it } from "vitest";
import { callAt } from "../../src/hosts/lab/inspect/pointedCall";

/** The call at the bar of a text, or between its two bars. */
function at(marked: string): string | null {
  const [before = "", ...rest] = marked.split("|");
  const text = before + rest.join("");
  const from = before.length;
  return callAt(parser.parse(text), text, { from, to: rest.length > 1 ? from + (rest[0] as string).length : from });
}

it.each([
  ["lo|ss(w, x)", "loss(w, x)"],
  ["|loss(w, x)", "loss(w, x)"],
  ["loss(w, x)|", "loss(w, x)"],
  ["y = loss(w|, x)", "loss(w, x)"],
  ["jnp.sum(lo|ss(w, x))", "loss(w, x)"],
  ["loss(w, jnp.ones(|3))", "jnp.ones(3)"],
  ["loss(w, jnp.ones(3), |x)", "loss(w, jnp.ones(3), x)"],
  ["model.ap|ply(params, x)", "model.apply(params, x)"],
  ["jax.gr|ad(loss)(w, x)", "jax.grad(loss)(w, x)"],
  ["jax.jit(f)(x).block_until|_ready()", "jax.jit(f)(x).block_until_ready()"],
  ["loss(\n    w,  # weights|\n    x,\n)", "loss(\n    w,  # weights\n    x,\n)"],
  ["%%compile -t v5e:2x2\nx = loss(w, |x)", "loss(w, x)"],
  ["def f(x):\n    return g(x|)", "g(x)"],
  ["w, |x = 1, 2", null],
  ["|", null],
])("the call at the caret of %j is %j", (text, call) => expect(at(text)).toBe(call));

it.each([
  ["|loss(w, x)|", "loss(w, x)"],
  ["|y = loss(w, jnp.ones(3))|", "loss(w, jnp.ones(3))"],
  ["|loss|(w, x)", "loss(w, x)"],
  ["loss(|w, jnp.ones(3)|)", "jnp.ones(3)"],
  ["|x = 1|", null],
])("the selected call of %j is %j", (text, call) => expect(at(text)).toBe(call));

import { describe, expect, it } from "vitest";
import { Doc } from "../../src/model/document";
import type { Source } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { headOf } from "../../src/parts/sticky";
import { definition, nextUse, sameScope } from "../../src/model/symbols";
import { columnsReply, gz } from "../helpers";

async function doc(kind: string, text: string, ends: Record<number, number>): Promise<Doc> {
  const lines = text.split("\n").length;
  const source: Source = {
    state: () => readState({}),
    onState: () => () => {},
    request: async (method) =>
      method === "document"
        ? { result: { mode: "full" }, buffers: [gz(text)] }
        : columnsReply({ fold_end: Array.from({ length: lines }, (_, row) => ends[row] ?? -1) }),
  };
  const made = new Doc(source, 0, { kind, title: kind, lines, bytes: text.length });
  await made.load(async () => {});
  expect(made.problem).toBeNull();
  return made;
}

const HLO = `%f.1 (p: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  ROOT %n = f32[] negate(%p)
}

%f.10 (p: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  ROOT %m = f32[] abs(%p)
}

ENTRY %main (x: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %a = f32[] fusion(%x), kind=kLoop, calls=%f.10
  ROOT %b = f32[] fusion(%a), kind=kLoop, calls=%f.1
}`;

describe("HLO", () => {
  const made = doc("hlo", HLO, { 0: 3, 5: 8, 10: 14 });

  it("finds a computation by its whole name, and its callers", async () => {
    expect(await definition(await made, "f.1", 13, true)).toBe(0);
    expect(await definition(await made, "f.10", 12, true)).toBe(5);
    expect(await nextUse(await made, "f.1", 0, true)).toBe(13);
  });

  it("finds a value in its own computation", async () => {
    expect(await definition(await made, "p", 7, false)).toBe(6);
    expect(await definition(await made, "p", 2, false)).toBe(1);
    expect(await definition(await made, "a", 13, false)).toBe(12);
    expect(await definition(await made, "nobody", 13, false)).toBe(-1);
    expect(sameScope(await made, 2, 7)).toBe(false);
  });
});

const JAXPR = `{ lambda ; a:f32[]. let
    b:f32[] = jit[
      name=g
      jaxpr={ lambda ; a:f32[]. let
          b:f32[] = sin a
        in (b,) }
    ] a
    c:f32[] = cos b
  in (c,) }`;

describe("jaxpr", () => {
  const made = doc("jaxpr", JAXPR, { 0: 8, 1: 6, 3: 5 });

  it("keeps the names of an inner jaxpr apart from the same names outside", async () => {
    expect(await definition(await made, "b", 7, false)).toBe(1);
    expect(await definition(await made, "b", 5, false)).toBe(4);
    expect(await definition(await made, "a", 4, false)).toBe(3);
    expect(await definition(await made, "a", 6, false)).toBe(0);
    expect(sameScope(await made, 4, 7)).toBe(false);
    expect(sameScope(await made, 1, 7)).toBe(true);
  });
});

const STABLEHLO = `module @m {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c) : tensor<f32>, tensor<i32>
    cond {
      %5 = stablehlo.compare LT, %iterArg, %arg0
    } do {
      %5 = func.call @g(%iterArg) : (tensor<f32>) -> tensor<f32>
    }
    return %0#0 : tensor<f32>
  }
  func.func private @g(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}`;

describe("StableHLO", () => {
  const made = doc("stablehlo", STABLEHLO, { 0: 13, 1: 9, 3: 4, 5: 7, 10: 12 });

  it("finds functions, arguments of the own function, results and loop variables", async () => {
    expect(await definition(await made, "@g", 6, true)).toBe(10);
    expect(await definition(await made, "arg0", 11, false)).toBe(10);
    expect(await definition(await made, "arg0", 4, false)).toBe(1);
    expect(await definition(await made, "0", 8, false)).toBe(2);
    expect(await definition(await made, "iterArg", 6, false)).toBe(2);
  });

  it("keeps values of sibling regions apart", async () => {
    expect(sameScope(await made, 4, 6)).toBe(false);
    expect(sameScope(await made, 2, 6)).toBe(true);
    expect(sameScope(await made, 8, 11)).toBe(false);
  });
});

it("says which function a row is in, and not that it is in a module", async () => {
  const made = await doc("stablehlo", STABLEHLO, { 0: 13, 1: 9, 3: 4, 5: 7, 10: 12 });
  expect([4, 8, 11, 13].map((row) => headOf(made, row))).toEqual([1, 1, 10, -1]);
});

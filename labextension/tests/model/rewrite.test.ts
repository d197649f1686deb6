import { expect, it } from "vitest";
import { type Show, hiddenStretches, overlaps } from "../../src/model/rewrite";

const ALL: Show = { types: true, layouts: true, metadata: true };

function shown(kind: string, line: string, show: Partial<Show>): string {
  let text = "";
  let at = 0;
  for (const [start, end] of hiddenStretches(kind, line, { ...ALL, ...show })) {
    text += line.slice(at, start);
    at = end;
  }
  return text + line.slice(at);
}

const DOT = "  %dot.1 = f32[8,512]{1,0:T(8,128)} dot(%a, %b), lhs_contracting_dims={1}, metadata={op_name=\"a{b}\" id=3}";

it("hides nothing when all is to be shown", () => {
  for (const kind of ["hlo", "stablehlo", "jaxpr", "python"]) expect(shown(kind, DOT, {})).toBe(DOT);
});

it("hides HLO types, layouts and metadata each alone", () => {
  expect(shown("hlo", DOT, { layouts: false })).toContain("f32[8,512] dot(");
  expect(shown("hlo", DOT, { layouts: false })).toContain("lhs_contracting_dims={1}");
  expect(shown("hlo", DOT, { types: false })).toMatch(/^ {2}%dot\.1 = dot\(%a, %b\)/);
  expect(shown("hlo", DOT, { metadata: false })).toMatch(/lhs_contracting_dims=\{1\}$/);
});

it("hides HLO tuple types and the types of a computation's head", () => {
  expect(shown("hlo", "  ROOT %t = (f32[8]{0}, (s32[], f32[])) tuple(%a, %b)", { types: false })).toBe(
    "  ROOT %t = tuple(%a, %b)",
  );
  expect(shown("hlo", "%f.1 (p.0: f32[8,512], q: (f32[], s32[])) -> f32[8] {", { types: false })).toBe("%f.1 (p.0, q) {");
});

it("hides StableHLO types at the end, in the head and with results", () => {
  expect(shown("stablehlo", "    %1 = stablehlo.tanh %0 : tensor<8x512xf32>", { types: false })).toBe(
    "    %1 = stablehlo.tanh %0",
  );
  expect(
    shown("stablehlo", "    %9:2 = call @inner(%8) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi1>)", { types: false }),
  ).toBe("    %9:2 = call @inner(%8)");
  expect(shown("stablehlo", "  func.func @f(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> tensor<8xf32> {", { types: false })).toBe(
    "  func.func @f(%arg0, %arg1) {",
  );
});

it("hides jaxpr types and keeps parameters", () => {
  expect(shown("jaxpr", "    f:f32[8,512] g:i32[] = mul[axes=(0, 1)] d 2.0:f32[]", { types: false })).toBe(
    "    f g = mul[axes=(0, 1)] d 2.0",
  );
  expect(shown("jaxpr", "{ lambda ; a:f32[128,512]. let", { types: false })).toBe("{ lambda ; a. let");
});

it("gives disjoint stretches in order, on any line", () => {
  const nasty = ["(".repeat(3000), "{".repeat(3000), ": tensor<".repeat(500), "f32[8]{1,0} ".repeat(300), ", metadata={".repeat(300)];
  for (const kind of ["hlo", "stablehlo", "jaxpr"]) {
    for (const line of nasty) {
      let last = -1;
      for (const [from, to] of hiddenStretches(kind, line, { types: false, layouts: false, metadata: false })) {
        expect(from).toBeGreaterThan(last);
        last = to;
      }
    }
  }
});

it("says when a search hit is hidden", () => {
  expect(overlaps([[3, 6]], 5, 8)).toBe(true);
  expect(overlaps([[3, 6]], 6, 8)).toBe(false);
});

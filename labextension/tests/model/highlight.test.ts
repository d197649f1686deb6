import { describe, expect, it } from "vitest";
import { isName, nameOf, openQuotes, tokenise, tokenisePython } from "../../src/model/highlight";

const words = (kind: string, line: string, cls: string) =>
  tokenise(kind, line)
    .filter((t) => t.cls === cls)
    .map((t) => line.slice(t.start, t.end));

const names = (kind: string, line: string) =>
  tokenise(kind, line)
    .filter(isName)
    .map((t) => (t.def ? "+" : "") + nameOf(line, t));

describe("HLO", () => {
  const fusion = "  ROOT %fusion.3 = f32[8,512]{1,0} fusion(%p.1, %b), kind=kLoop, calls=%fused_computation.3";
  it("tells names, calls, types and the op", () => {
    expect(names("hlo", fusion)).toEqual(["+fusion.3", "p.1", "b", "fused_computation.3"]);
    expect(words("hlo", fusion, "ref")).toEqual(["%fused_computation.3"]);
    expect(words("hlo", fusion, "type")).toEqual(["f32[8,512]{1,0}"]);
    expect(words("hlo", fusion, "op")).toEqual(["fusion"]);
    expect(words("hlo", fusion, "kw")).toEqual(["ROOT"]);
  });

  it("sees where computations and their parameters are bound", () => {
    expect(names("hlo", "%fused_computation.3 (param_0.4: f32[8], p: f32[]) -> f32[8] {")).toEqual([
      "+fused_computation.3",
      "+param_0.4",
      "+p",
    ]);
    expect(names("hlo", "ENTRY %main.5 (Arg_0.1: f32[8]) -> f32[8] {")[0]).toBe("+main.5");
  });

  it("follows every way of calling", () => {
    expect(words("hlo", "%w = (s32[]) while(%t), condition=%c.1, body=%b.2", "ref")).toEqual(["%c.1", "%b.2"]);
    expect(words("hlo", "%r = f32[] reduce(%a, %z), dimensions={0}, to_apply=%add.1", "ref")).toEqual(["%add.1"]);
    expect(words("hlo", "%c = f32[] conditional(%p), branch_computations={%x, %y}", "ref")).toEqual(["%x", "%y"]);
  });
});

describe("StableHLO", () => {
  it("binds results, several at once, arguments and loop variables", () => {
    expect(names("stablehlo", "    %9:2 = call @inner(%8) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi1>)")).toEqual([
      "+9",
      "@inner",
      "8",
    ]);
    expect(names("stablehlo", "    %12 = stablehlo.add %9#1, %cst_0 : tensor<8xf32>")).toEqual(["+12", "9", "cst_0"]);
    expect(names("stablehlo", "  func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {")).toEqual([
      "+@main",
      "+arg0",
    ]);
    expect(names("stablehlo", "    %11:2 = stablehlo.while(%iterArg = %10, %iterArg_1 = %c) : tensor<i32>, tensor<i32>")).toEqual([
      "+11",
      "+iterArg",
      "10",
      "+iterArg_1",
      "c",
    ]);
  });

  it("takes a nested type as one", () => {
    expect(words("stablehlo", "%0 = a.b %1 : tuple<tensor<8xf32>, tensor<i32>>", "type")).toEqual([
      "tuple<tensor<8xf32>, tensor<i32>>",
    ]);
  });
});

describe("jaxpr", () => {
  it("tells bindings, uses and the primitive", () => {
    expect(names("jaxpr", "    c:f32[8,512] d:i32[] = scan[length=4] b a")).toEqual(["+c", "+d", "b", "a"]);
    expect(words("jaxpr", "    f:f32[8,512] = mul d 2.0:f32[]", "op")).toEqual(["mul"]);
    expect(words("jaxpr", "    f:f32[8,512] = mul d 2.0:f32[]", "type")).toEqual([":f32[8,512]", ":f32[]"]);
    expect(names("jaxpr", "{ lambda ; a:f32[128,512] b:f32[8,128]. let")).toEqual(["+a", "+b"]);
    expect(names("jaxpr", "  in (cx,) }")).toEqual(["cx"]);
  });

  it("follows a jaxpr that is printed once and called by name", () => {
    expect(names("jaxpr", "let _where = { lambda ; a:f32[]. let  in (a,) } in")).toContain("+_where");
    expect(names("jaxpr", "  jaxpr=_where")).toEqual(["_where"]);
  });
});

describe("Python", () => {
  it("tells keywords, strings and comments", () => {
    const line = 'def f(x): return jnp.sum(x) + "a # b"  # why';
    expect(words("python", line, "kw")).toEqual(["def", "return"]);
    expect(words("python", line, "str")).toEqual(['"a # b"']);
    expect(words("python", line, "com")).toEqual(["# why"]);
  });

  it("knows which lines are inside a docstring", () => {
    const lines = ["def f():", '  """Say', "  def is no keyword here", '  """', "  return '''x''' # \"\"\"", "x"];
    expect(openQuotes(lines)).toEqual([null, null, '"""', '"""', null, null]);
    expect(tokenisePython(lines[2] ?? "", '"""').map((t) => t.cls)).toEqual(["str"]);
    expect(tokenisePython('end""" + 1', '"""').map((t) => t.cls)).toEqual(["str", "num"]);
  });
});

it("takes any text, and long lines without trying every split of them", () => {
  const hostile = ['<script>alert(1)</script> "', "\u001b[31m%a = \u0000", "😀:f32[", "{".repeat(4000), '"'.repeat(4001)];
  for (const kind of ["hlo", "stablehlo", "jaxpr", "python", "unknown"]) {
    for (const line of [...hostile, `%x = f32[${"8,".repeat(2000)}`, "a(".repeat(2000), ": ".repeat(2000), "%a, ".repeat(1000)]) {
      const tokens = tokenise(kind, line);
      tokens.forEach((t, i) => expect(t.start).toBeGreaterThanOrEqual(tokens[i - 1]?.end ?? 0));
    }
  }
});

import { expect, it } from "vitest";
import { cellMagic, choiceOfOptions, codeOfCall, codeOfCell } from "../../src/hosts/lab/inspect/cellCode";

it.each([
  ["%%compile -t cpu:8\nf(x)", "compile"],
  ["\n\n  %%bash\nls", "bash"],
  ["%%compile?", "compile"],
  ["x = 1\n%%compile", null],
  ["%compile f(x)", null],
  ["", null],
])("the cell magic of %j is %j", (text, name) => expect(cellMagic(text)).toBe(name));

it("a cell runs below one line, which counts as none of its lines", () => {
  const code = codeOfCell({ stage: "compile", target: "v5e:2x2, h100:8", options: " --mesh\n data=4 " }, "f(x)\n");
  expect(code).toBe("%%compile --from-toolbar -t v5e:2x2 -t h100:8 --mesh data=4\nf(x)\n");
});

it("a stage without targets gets none", () => {
  expect(codeOfCell({ stage: "trace", target: "v5e:2x2", options: "" }, "f(x)")).toBe("%%trace --from-toolbar\nf(x)");
});

it("a call of several lines stands below its magic, any other behind it", () => {
  const choice = { stage: "lower", target: "cpu:2", options: "" } as const;
  expect(codeOfCall(choice, "f(x)")).toBe("%lower -t cpu:2 f(x)");
  expect(codeOfCall(choice, "f(\n  x, # it\n)")).toBe("%%lower -t cpu:2\nf(\n  x, # it\n)");
});

it.each([
  ["-t v5e:2x2 --mesh data=4", "v5e:2x2", "--mesh data=4"],
  ["--target=h100:8 -tcpu:8 -q", "h100:8 cpu:8", "-q"],
  ['--args "f32[8], n=3" --from-toolbar', "", '--args "f32[8], n=3"'],
  ["--timeout 60", "", "--timeout 60"],
  ["-t", "", ""],
  ["", "", ""],
])("the options %j have the targets %j and are else %j", (line, target, options) => {
  expect(choiceOfOptions("compile", line)).toEqual({ stage: "compile", target, options });
});

it("what was chosen is read back from the line that it made", () => {
  const choice = { stage: "compile", target: "v5e:2x2 cpu:8", options: "--in-spec \"P('data')\" --isolate" } as const;
  const [line] = codeOfCell(choice, "f(x)").split("\n");
  expect(choiceOfOptions("compile", (line as string).replace("%%compile ", ""))).toEqual(choice);
});

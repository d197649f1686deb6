import { expect, it } from "vitest";
import { heldText, heldTitle } from "../../src/hosts/lab/side/heldMemory";
import { readInspections, sharedStages, withFreed } from "../../src/hosts/lab/side/inspectionList";
import { inspection, stages } from "./inspectionReplies";

const read = (...all: unknown[]) => readInspections({ inspections: all }).rows;

it("reads what the kernel lists, in its order", () => {
  const { rows, leftOut } = readInspections({ inspections: [inspection("2"), inspection("1")], left_out: 3 });
  expect(rows.map(({ id, label, status }) => [id, label, status])).toEqual([["2", "In [2]", "done"], ["1", "In [1]", "done"]]);
  expect(rows[0]?.targets[0]?.stages.map(({ seconds }) => seconds)).toEqual([0.004, 0.003, 0.081]);
  expect(leftOut).toBe(3);
});

it("reads the best finding, and none where the kernel has none", () => {
  const [found, none, damaged] = read(inspection("3", { finding: "params is not donated." }), inspection("2"), inspection("1", { finding: 7 }));
  expect([found, none, damaged].map((one) => one!.finding)).toEqual(["params is not donated.", "", ""]);
});

it("takes damaged replies for what they are", () => {
  expect(readInspections({}).rows).toEqual([]);
  expect(read(null, 3, "x", { id: 7 }, { id: "" })).toEqual([]);
  const [row] = read({ id: "1", targets: [null, { stages: "no", status: {} }], status: "__proto__", made: "now", variables: [1] });
  expect(row).toMatchObject({ cell: null, status: "waiting", made: 0, variables: [] });
  expect(row?.targets.map(({ stages }) => stages)).toEqual([[], []]);
  expect(read(inspection("1"), inspection("1", { label: "twice" }))).toHaveLength(1);
});

it("does not count unknown memory as nothing", () => {
  const [some] = read(inspection("1"));
  const [none] = read(inspection("1", { memory: [{ part: "executable", bytes: null, reason: "not counted yet" }] }));
  const [all] = read(inspection("1", { memory: [{ part: "documents", bytes: 0 }], variables: ["ins"] }));
  expect([some, none, all].map((one) => heldText(one!))).toEqual(["holds ≥ 271 kB", "holds: unknown", "holds 0 B"]);
  expect(heldTitle(some!)).toContain("executable: unknown (not counted yet)");
  expect(heldTitle(all!)).toContain("held by ins");
});

it("keeps a freed row until its cell is inspected once more", () => {
  const [two, one] = read(inspection("2"), inspection("1"));
  const freed = [{ ...one!, isFreed: true }];
  expect(withFreed([two!], freed).map(({ id, isFreed }) => [id, isFreed])).toEqual([["2", false], ["1", true]]);
  const [rerun] = read(inspection("3", { cell: "cell-1" }));
  expect(withFreed([rerun!, two!], freed).map(({ id }) => id)).toEqual(["3", "2"]);
});

it("shows stages once that all targets share", () => {
  const target = (name: string, compile: number) => ({ target: name, status: "done", stages: stages(0.1, 0.2, compile) });
  const [row] = read(inspection("1", { targets: [target("local", 1), target("v5e:2x2", 2)] }));
  const { shared, own } = sharedStages(row!.targets);
  expect(shared.map(({ name }) => name)).toEqual(["trace", "lower"]);
  expect(own.map((all) => all.map(({ seconds }) => seconds))).toEqual([[1], [2]]);
  const [alone] = read(inspection("1"));
  expect(sharedStages(alone!.targets).own[0]).toHaveLength(3);
});

import { describe, expect, it } from "vitest";
import { type Flag, type Kind, isChanged, isOf, matching, offered, onLine, readFlags } from "../../src/tabs/options/read";

const flag = (name: string, more: Partial<Flag> = {}): Flag => ({
  name,
  type: "bool",
  values: [],
  fallback: "False",
  set: null,
  ...more,
});

const FLAGS = [
  flag("xla_cpu_enable_fast_math"),
  flag("xla_cpu_fast_math_honor_nans", { set: "True" }),
  flag("xla_gpu_autotune_level", { type: "int32", fallback: "4" }),
  flag("xla_dump_to", { type: "string", fallback: "" }),
  flag("xla_tpu_secret", { type: null, fallback: null, set: "1" }),
  flag("xla_cpu_scheduler_type", { type: "enum", values: ["SCHEDULER_MEMORY", "SCHEDULER_SPEED"] }),
];
const names = (query: string, kind: Kind | null = null) => matching(FLAGS, query, kind).flags.map((f) => f.name);

describe("flags", () => {
  it("are found by all words in any order, by what they may be set to, and by what is typed on a magic's line", () => {
    expect(names("math cpu")).toEqual(["xla_cpu_enable_fast_math", "xla_cpu_fast_math_honor_nans"]);
    expect(names("SCHEDULER_speed")).toEqual(["xla_cpu_scheduler_type"]);
    expect(names("--xla-dump-to")).toEqual(["xla_dump_to"]);
    expect(names("")).toHaveLength(FLAGS.length);
  });

  it("that only come close are said to be similar, closest first", () => {
    const found = matching(FLAGS, "fstmth", null);
    expect(found.similar).toBe(true);
    expect(found.flags.map((f) => f.name)).toEqual(["xla_cpu_enable_fast_math", "xla_cpu_fast_math_honor_nans"]);
    expect(matching(FLAGS, "qqqq", null)).toEqual({ flags: [], similar: false });
  });

  it("fall into kinds", () => {
    expect(names("", "set here")).toEqual(["xla_cpu_fast_math_honor_nans", "xla_tpu_secret"]);
    expect(names("", "gpu")).toEqual(["xla_gpu_autotune_level"]);
    expect(names("", "dumps and debug")).toEqual(["xla_dump_to"]);
    expect(isOf("dumps and debug", flag("xla_gpu_enable_dialog"))).toBe(false);
    expect(isOf("dumps and debug", flag("xla_gpu_dump_llvmir"))).toBe(true);
    expect(names("math", "gpu")).toEqual([]);
  });

  it("go onto the line of a magic with what is set, a switch turned over, or what holds", () => {
    expect(onLine(flag("xla_a"))).toBe("--xla xla_a=True");
    expect(onLine(flag("xla_a", { fallback: "True" }))).toBe("--xla xla_a=False");
    expect(onLine(flag("xla_a", { set: "True" }))).toBe("--xla xla_a=True");
    expect(onLine(flag("xla_n", { type: "int64", fallback: "-3" }))).toBe("--xla xla_n=-3");
    expect(onLine(flag("xla_e", { type: "enum" }), "FAST")).toBe("--xla xla_e=FAST");
    expect(onLine(flag("xla_s", { type: "string", set: 'a "b" c' }))).toBe('--xla "xla_s=a \\"b\\" c"');
    expect(offered(flag("xla_s", { type: "string", fallback: "(not set)" }))).toBe("");
  });

  it("are changed when they are set to something else than what would hold", () => {
    expect(isChanged(flag("xla_a", { set: "True" }))).toBe(true);
    expect(isChanged(flag("xla_a", { set: "False" }))).toBe(false);
    expect(isChanged(flag("xla_a"))).toBe(false);
  });

  it("are read from anything, capped", () => {
    const raw = [null, 3, { name: 7 }, { name: "x".repeat(9999), type: 1, values: ["A", 2], default: {}, set: [] }];
    const { flags, problem } = readFlags({ result: { flags: raw, problem: 4 }, buffers: [] });
    expect(flags).toEqual([{ name: "x".repeat(2000), type: null, values: ["A"], fallback: null, set: null }]);
    expect(problem).toBe("");
    expect(readFlags({ result: { flags: Array(9999).fill({ name: "a" }) }, buffers: [] }).flags.length).toBe(2000);
    expect(readFlags({ result: {}, buffers: [] }).flags).toEqual([]);
  });
});

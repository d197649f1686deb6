/** The small replies that the tests of tabs use have the keys and columns that the kernel sends, and no others. */

import { expect, it } from "vitest";
import type { Reply } from "../../src/wire/source";
import { keysOf, replyOf } from "../recorded";
import { EQUATIONS, EQUATION_LINES, INSTRUCTIONS, LEDGER, LINES, MEMBERS, PARTS, ROOFLINE } from "./costReplies";
import { reply as memoryReply } from "./memoryReply";
import { COLLECTIVES, DTYPES, MAP, VALUES } from "./shardingReplies";

const HAND_WRITTEN: [method: string, reply: Reply][] = [
  ["ledger", LEDGER],
  ["cost", INSTRUCTIONS],
  ["cost_parts", PARTS],
  ["members", MEMBERS],
  ["cost_groups", LINES],
  ["equation_groups", EQUATION_LINES],
  ["roofline", ROOFLINE],
  ["equations", EQUATIONS],
  ["memory", memoryReply()],
  ["shardings", VALUES],
  ["sharding_map", MAP],
  ["collectives", COLLECTIVES],
  ["dtypes", DTYPES],
];

const dtypes = ({ result }: Reply) => {
  const described = (result.columns ?? []) as { name: string; dtype: string; unit?: string }[];
  return Object.fromEntries(described.filter(({ name }) => !name.endsWith(": why")).map(({ name, dtype, unit }) => [name, `${dtype} ${unit ?? ""}`]));
};

for (const [method, reply] of HAND_WRITTEN) {
  it(`a hand-written reply to ${method} has only what the kernel sends`, () => {
    const recorded = new Set(keysOf(replyOf(method).result));
    expect(keysOf(reply.result).filter((key) => !recorded.has(key))).toEqual([]);
    expect(dtypes(replyOf(method))).toMatchObject(dtypes(reply));
  });
}

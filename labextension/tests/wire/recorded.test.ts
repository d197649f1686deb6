/** Every reader takes in what the kernel really sends: a change of any part of a reply changes what is read. */

import { describe, expect, it } from "vitest";
import { readCompare } from "../../src/tabs/compare/read";
import { KINDS } from "../../src/tabs/memory/read";
import type { Reply } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { type Path, changedAt, changedBuffer, columnsOf, leaves, written } from "../changes";
import { READERS } from "../readers";
import { REPLIES, type Recorded, STATES, replyOf } from "../recorded";

async function outcome({ method, params }: Recorded, reply: Reply): Promise<string> {
  try {
    return written(await READERS[method]?.read(reply, params));
  } catch (error) {
    return `refused: ${error}`;
  }
}

const nameOf = (path: Path) => path.filter((key) => typeof key === "string").join(".");
/** What describes the columns of a reply: they are changed themselves. */
const isDescription = (path: Path) => path.includes("columns");

/** The keys and columns of a reply that make no difference to what is read. */
async function idle(recorded: Recorded): Promise<string[]> {
  const { result, buffers } = recorded;
  const before = await outcome(recorded, recorded);
  const found: string[] = [];
  for (const path of leaves(result).filter((one) => !isDescription(one))) {
    const reply = { result: changedAt(result, path) as Reply["result"], buffers };
    if ((await outcome(recorded, reply)) === before) found.push(nameOf(path));
  }
  for (const { name, buffer } of columnsOf(recorded)) {
    const reply = { result, buffers: buffers.with(buffer, changedBuffer(buffers[buffer] as ArrayBuffer)) };
    if ((await outcome(recorded, reply)) === before) found.push(name);
  }
  return [...new Set(found)];
}

it("every recorded request has a reader", () => {
  expect([...new Set(REPLIES.map(({ method }) => method))].sort()).toEqual(Object.keys(READERS).sort());
});

it("the kinds of buffers are numbered as the kernel numbers them", () => {
  expect(replyOf("memory").result.kinds).toEqual(KINDS);
});

describe("a recorded reply", () => {
  for (const recorded of REPLIES) {
    it(`to ${recorded.method} is read whole`, async () => {
      expect(await outcome(recorded, recorded)).not.toContain("refused");
      const { unused = [], byView = [] } = READERS[recorded.method] ?? {};
      expect((await idle(recorded)).sort()).toEqual([...unused, ...byView].sort());
    });
  }
});

/** Static forms of a report alone show these. */
const UNUSED_OF_STATE = /^(version|calls\.version|calls\.meshes\..*)$/;

/** The parts of a recorded value that make no difference to what `read` makes of it. */
function unread(value: unknown, read: (raw: unknown) => unknown): string[] {
  const before = written(read(value));
  return [...new Set(leaves(value).filter((path) => written(read(changedAt(value, path))) === before).map(nameOf))];
}

describe("a recorded state", () => {
  for (const [program, state] of Object.entries(STATES)) {
    it(`of ${program} is read whole`, () => {
      const names = unread(state, readState).filter((name) => !UNUSED_OF_STATE.test(name));
      expect(names).toEqual([]);
    });
  }

  it("holds a comparison that is read whole", () => {
    const [call] = (STATES.targets as { calls: { compare: unknown }[] }).calls;
    expect(unread(call?.compare, readCompare)).toEqual(["name", "columns.lower"]);
  });
});

/** What Python and TypeScript must write alike, by examples that neither has made: tests/replies/test_agreed.py reads them too. */

import { expect, it } from "vitest";
import { percent } from "../../src/wire/figures";
import { elided, replyKey } from "../../src/wire/savedForm";
import type { Params } from "../../src/wire/source";
import agreed from "../fixtures/agreed.json";

type Run = [letter: string, times: number];

it("a saved reply has the name under which the page asks for it", () => {
  for (const [method, params, key] of agreed.reply_keys as unknown as [string, Params, string][]) expect(replyKey(method, params)).toBe(key);
});

it("a long line loses the same middle", () => {
  for (const [letter, count, head, words, tail] of agreed.elided as unknown as [string, number, Run, string, Run?][]) {
    const whole = head[0].repeat(head[1]) + words + (tail ? tail[0].repeat(tail[1]) : "");
    expect(elided(letter.repeat(count)) === whole).toBe(true);
  }
});

it("a share is written alike", () => {
  for (const [part, text] of agreed.shares as [number, string][]) expect(percent(part, 1)).toBe(text);
});

import { expect, it } from "vitest";
import { outcomeWords, persistentWords, readRecord } from "../../src/tabs/compiles/readRecord";
import { replyOf } from "../recorded";

it("a compile that no cache was in use for has missed nothing", () => {
  const { persistent } = readRecord(replyOf("compile_record"));
  expect(persistent && persistentWords(persistent)).toBe("not in use");
});

it("a miss says whether its entry was written", () => {
  expect(outcomeWords("written")).toBe("miss, written");
  expect(outcomeWords("write failed")).toBe("miss, not written: write failed");
  expect(outcomeWords("hit")).toBe("hit");
});

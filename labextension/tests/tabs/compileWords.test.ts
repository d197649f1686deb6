import { expect, it } from "vitest";
import { persistentWords, readRecord } from "../../src/tabs/compiles/readRecord";
import { replyOf } from "../recorded";

it("a compile that no cache was in use for has missed nothing", () => {
  const { persistent } = readRecord(replyOf("compile_record"));
  expect(persistent && persistentWords(persistent)).toBe("not in use");
});

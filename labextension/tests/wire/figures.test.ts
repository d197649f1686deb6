import { expect, it } from "vitest";
import { clock, difference, duration, scaled } from "../../src/wire/figures";
import figures from "../fixtures/figures.json";

type Case = [value: number, unit: string, text: string];

it("a number with its unit is written as Python writes it", () => {
  for (const [value, unit, text] of figures.scaled as Case[]) expect(scaled(value, unit)).toBe(text);
});

it("a time that has passed is written as Python writes it", () => {
  for (const [seconds, text] of figures.duration as [number, string][]) expect(duration(seconds)).toBe(text);
});

it("a difference is written as Python writes it", () => {
  for (const [change, unit, text] of figures.signed as Case[]) expect(difference(change, unit)).toBe(text);
});

it("a time that still grows has whole minutes and fewer than sixty seconds", () => {
  expect([7.34, 59.9, 60, 119.9, 125.2].map(clock)).toEqual(["7.3 s", "59.9 s", "1 min 0 s", "1 min 59 s", "2 min 5 s"]);
});

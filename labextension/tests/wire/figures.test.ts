import { expect, it } from "vitest";
import { difference, duration, scaled } from "../../src/wire/figures";
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

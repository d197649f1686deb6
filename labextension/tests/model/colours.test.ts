import { describe, expect, it } from "vitest";
import { DISTINCT, nthColour } from "../../src/model/colours";
import { colouredLines } from "../../src/model/links";
import { type FrameTuple, frames } from "../helpers";

/** The colour's place in OKLab, as the style sheet makes it in the light theme. */
function lab(colour: number): [number, number, number] {
  const angle = ((colour % 360) * Math.PI) / 180;
  return [0.7 - 0.22 * Math.floor(colour / 360), 0.15 * Math.cos(angle), 0.15 * Math.sin(angle)];
}

const distance = (a: number, b: number): number => Math.hypot(...lab(a).map((value, i) => value - (lab(b)[i] ?? 0)));

describe("the colours of a source pane", () => {
  it("differ for all lines that are in sight together, and most for neighbours", () => {
    for (let first = 0; first < 3 * DISTINCT; first++) {
      for (let apart = 1; apart < DISTINCT; apart++) {
        const [one, other] = [nthColour(first), nthColour(first + apart)];
        expect(distance(one, other), `${first} and ${first + apart}`).toBeGreaterThan(apart < 5 ? 0.1 : 0.05);
      }
    }
  });

  it("are given to the lines that made something, in their order, whatever their numbers", () => {
    const lines = [100, 13, 26, 0, 47];
    const table = lines.map((line, frame): FrameTuple => [0, line, 1, line, 9, -1, frame]);
    const coloured = colouredLines(frames(table));
    const sorted = [...lines].sort((a, b) => a - b);
    expect(sorted.map((line) => coloured.get(`0,${line}`))).toEqual(sorted.map((_, n) => nthColour(n)));
  });

  it("are one for an expression of several lines, but for lines in it that made something themselves", () => {
    const coloured = colouredLines(frames([[0, 3, 1, 7, 2, -1, 0], [0, 5, 5, 5, 9, -1, 1]]));
    const [call, inner] = [nthColour(0), nthColour(1)];
    expect([3, 4, 5, 6, 7].map((line) => coloured.get(`0,${line}`))).toEqual([call, call, inner, call, call]);
  });
});

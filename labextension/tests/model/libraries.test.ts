import { describe, expect, it } from "vitest";
import { EVERYTHING } from "../../src/model/frames";
import { STRONG, WEAK, litByLine } from "../../src/model/links";
import { frames } from "../helpers";

/** model.py:3 calls flax at 70, which calls optax at 8; and flax at 90, which nothing of the user's calls. */
const called = frames(
  [
    [0, 3, 1, 3, 9, -1, 0],
    [1, 70, 1, 70, 9, 0, 0],
    [2, 8, 1, 8, 9, 1, 0],
    [1, 90, 1, 90, 9, -1, 3],
  ],
  [{}, { name: "/e/site-packages/flax/nn.py", user: false, library: "flax" }, { name: "/e/site-packages/optax/a.py", user: false, library: "optax" }],
);

const anchors = (library: string) => [...called.counting(library).anchor];

describe("whose lines count", () => {
  it("are the user's, and those of a library where none of the user's is", () => {
    expect(anchors("")).toEqual([0, 0, 0, 3]);
  });

  it("are those of the library that is chosen, the innermost first", () => {
    expect(anchors("flax")).toEqual([0, 1, 1, 3]);
    expect(anchors("optax")).toEqual([0, 0, 2, 3]);
    expect(anchors(EVERYTHING)).toEqual([0, 1, 2, 3]);
  });

  it("light what came from them; the user's line still lights what it called, weakly", () => {
    const counted = called.counting("flax");
    expect([...litByLine(counted, { file: 1, line: 70 }).frames]).toEqual([0, STRONG, STRONG, 0]);
    expect([...litByLine(counted, { file: 0, line: 3 }).frames]).toEqual([STRONG, WEAK, WEAK, 0]);
  });

  it("are offered for the libraries that frames are in, the most frequent first", () => {
    expect(called.libraries).toEqual(["flax", "optax"]);
  });
});

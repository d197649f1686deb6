import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { groupColour } from "../../src/tabs/timeline/palette";
import { type Rgb, SIGHTS, Tokens, distance, seenWith } from "./colourMaths";

const SRC = new URL("../../src/", import.meta.url).pathname;
/** CIE 1976, ten times what is just noticeable side by side. */
const LEAST = 23;

type Named = [name: string, colour: Rgb];

const own = (file: string, names: string[]): [what: string, colours: Named[]][] =>
  (["light", "dark"] as const).map((scheme) => {
    const tokens = new Tokens(readFileSync(SRC + file, "utf8").replaceAll(/\/\*[^]*?\*\//g, ""), scheme);
    return [`${file}, ${scheme}`, names.map((name) => [name, tokens.of(`--jxs-${name}`).slice(0, 3) as Rgb])];
  });
const events: Named[] = Array.from({ length: 9 }, (_, n) => [`group ${n}`, groupColour(n).map((part) => part / 255) as Rgb]);

it.each([
  ...own("tabs/memory/style.css", ["argument", "output", "constant", "temporary", "residual"].map((kind) => `mem-${kind}`)),
  ...own("tabs/cost/style.css", ["compute", "memory", "interconnect"]),
  ["events by category", events] as [string, Named[]],
])("kinds are told apart by everybody: %s", (_, colours) => {
  const near = Object.keys(SIGHTS).flatMap((sight) =>
    colours.flatMap(([name, colour], i) =>
      colours.slice(i + 1).flatMap(([other, against]) => {
        const far = distance(seenWith(sight, colour), seenWith(sight, against));
        return far < LEAST ? [`${name} and ${other}, ${sight}: ${far.toFixed(1)}`] : [];
      }),
    ),
  );
  expect(near).toEqual([]);
});

import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";

const FOLDER = new URL("../../src/", import.meta.url).pathname;
const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".css"));

/** Classes that a file styles wherever they stand in the panel. */
function global(file: string): string[] {
  const css = readFileSync(FOLDER + file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
  const selectors = [...css.matchAll(/^\.jaxstage([^{}]*)\{/gm)].flatMap(([, rest]) => (rest as string).replaceAll(/\([^()]*\)/g, "()").split(","));
  return selectors.flatMap((selector) => /^(?:\.jaxstage)*\s+\.(jxs-[\w-]+)\s*$/.exec(selector)?.[1] ?? []);
}

it("no two files style the same class everywhere: one view would change another", () => {
  const owners = new Map<string, string>();
  for (const file of FILES.sort()) {
    for (const name of global(file)) {
      expect([name, owners.get(name) ?? file]).toEqual([name, file]);
      owners.set(name, file);
    }
  }
  expect(owners.size).toBeGreaterThan(50);
});

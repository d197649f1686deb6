import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";

const SRC = new URL("../../src/", import.meta.url).pathname;
const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).sort();
const sheets = FILES.filter((file) => file.endsWith(".css"));
const read = (file: string) => readFileSync(SRC + file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
const selectors = (file: string) =>
  [...read(file).matchAll(/([^{}]*)\{/g)].flatMap(([, list]) => (list as string).replaceAll(/\([^()]*\)/g, "").split(",")).map((one) => one.trim());
const classesIn = (text: string) => [...text.matchAll(/jxs-[\w-]+/g)].map(([name]) => name);

/** Classes that a file styles wherever they stand in the panel. */
const styled = (file: string) => selectors(file).flatMap((selector) => /^\.(jxs-[\w-]+)$/.exec(selector)?.[1] ?? []);

it("no two files style the same class everywhere: one view would change another", () => {
  const owners = new Map<string, string>();
  for (const file of sheets) {
    for (const name of styled(file)) {
      expect([name, owners.get(name) ?? file]).toEqual([name, file]);
      owners.set(name, file);
    }
  }
  expect(owners.size).toBeGreaterThan(50);
});

it("a tab's classes are its own", () => {
  const tabOf = (file: string) => /^tabs\/(\w+)\//.exec(file)?.[1];
  const owners = new Map(sheets.flatMap((file) => (tabOf(file) ? styled(file).map((name) => [name, tabOf(file)] as const) : [])));
  const borrowed = FILES.filter((file) => file.endsWith(".tsx") && !file.startsWith("style/")).flatMap((file) =>
    classesIn(read(file)).flatMap((name) => (owners.has(name) && owners.get(name) !== tabOf(file) ? [`${file}: ${name}`] : [])),
  );
  expect(borrowed).toEqual([]);
  expect(owners.size).toBeGreaterThan(50);
});

it("weight comes from layers, not from a class that is named twice", () => {
  const twice = sheets.flatMap((file) => selectors(file).filter((selector) => /(\.[\w-]+)\1(?![\w-])/.test(selector)).map((selector) => `${file}: ${selector}`));
  expect(twice).toEqual([]);
});

it("colours stand in the theme, or at the head of a tab that has its own", () => {
  const colour = /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(|\boklch\(/i;
  const loose = sheets
    .filter((file) => file !== "style/theme.css")
    .flatMap((file) => read(file).split("\n").filter((line) => colour.test(line) && !line.trim().startsWith("--")).map((line) => `${file}: ${line.trim()}`));
  expect(loose).toEqual([]);
});

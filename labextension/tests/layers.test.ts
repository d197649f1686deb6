import { readFileSync, readdirSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const SRC = new URL("../src/", import.meta.url).pathname;
/** Each imports itself and those before it; a tab none of the other tabs. */
const ROOMS = ["wire", "model", "parts", "tabs", "shell", "hosts"];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
const imports = files.flatMap((file) => {
  const found = readFileSync(SRC + file, "utf8").matchAll(/(?:from|import\() ?"(\.[^"]+)"/g);
  return [...found].map(([, path]): [string, string] => [file, relative(SRC, resolve(SRC, dirname(file), path as string))]);
});
const room = (file: string) => file.split("/")[0] as string;

it("every file is in a room", () => {
  expect(files.filter((file) => !ROOMS.includes(room(file)))).toEqual([]);
  expect(files.length).toBeGreaterThan(80);
});

it("rooms import the ones before them only", () => {
  const wrong = imports.filter(([from, to]) => ROOMS.indexOf(room(to)) > ROOMS.indexOf(room(from)));
  expect(wrong).toEqual([]);
  expect(imports.length).toBeGreaterThan(300);
});

it("a tab imports no other tab", () => {
  const tab = (file: string) => (room(file) === "tabs" && file.split("/").length > 2 ? file.split("/")[1] : null);
  expect(imports.filter(([from, to]) => tab(from) && tab(to) && tab(from) !== tab(to))).toEqual([]);
});

it("no file has 400 lines", () => {
  expect(files.filter((file) => readFileSync(SRC + file, "utf8").split("\n").length > 400)).toEqual([]);
});

const named = (path: string) => ["", ".ts", ".tsx"].map((end) => path + end).find((file) => files.includes(file));

it("files import each other in no circle", () => {
  const targets = new Map(files.map((file) => [file, imports.flatMap(([from, to]) => (from === file ? (named(to) ?? []) : []))]));
  const done = new Set<string>();
  const circleFrom = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const to of targets.get(file) ?? []) {
      const found = circleFrom(to, [...path, file]);
      if (found.length) return found;
    }
    done.add(file);
    return [];
  };
  expect([...targets.values()].flat().length).toBeGreaterThan(300);
  for (const file of files) expect(circleFrom(file, [])).toEqual([]);
});

it("no view takes the whole session: parts/hooks gives each what it needs", () => {
  const views = imports.filter(([from]) => ["parts", "tabs", "shell"].includes(room(from)) && from !== "parts/hooks.ts");
  expect(views.filter(([, to]) => to === "model/session")).toEqual([]);
});

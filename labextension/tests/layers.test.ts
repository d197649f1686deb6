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

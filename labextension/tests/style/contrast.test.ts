import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DISTINCT, nthColour } from "../../src/model/colours";
import { type Rgb, type Rgba, type Scheme, Tokens, contrast, over, stacked } from "./colourMaths";

const SRC = new URL("../../src/", import.meta.url).pathname;
const css = (file: string) => readFileSync(SRC + file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");

/** What the hosts' own themes set; "page" is the offline page, which sets nothing. */
const HOSTS: [name: string, scheme: Scheme, variables: Record<string, string>][] = [
  ["the offline page", "light", {}],
  ["the offline page", "dark", {}],
  ["JupyterLab 4", "light", { "--jp-layout-color1": "#ffffff", "--jp-layout-color2": "#eeeeee", "--jp-content-font-color1": "rgba(0, 0, 0, 0.87)" }],
  ["JupyterLab 4", "dark", { "--jp-layout-color1": "#212121", "--jp-layout-color2": "#424242", "--jp-content-font-color1": "#ffffff" }],
];

const TEXT = 4.5;
const GRAPHICS = 3;

const CODE = ["fg", "fg2", "fg3", "kw", "str", "num", "com", "type", "op", "attr", "ref"];
const MESSAGES = ["accent-fg", "bad", "good", "warn"];
const ON_ROWS = ["lit-weak", "lit", "held-weak", "held", "selected", "hover", "good-bg", "gone-bg", "changed-bg", "accent-bg", "bad-bg"];
const OWN_GROUNDS: [text: string, ground: string][] = [["accent-fg", "accent-bg"], ["bad", "bad-bg"], ["warn", "warn-bg"], ["fg", "hit"], ["hit-now-fg", "hit-now"], ["fg", "changed-word"]];
const DRAWN = ["accent", "accent-fg", "bad", "good", "warn", "fg3"];
const TABS: [file: string, drawn: string[]][] = [
  ["tabs/cost/style.css", ["compute", "memory", "interconnect"]],
  ["tabs/memory/style.css", ["mem-argument", "mem-output", "mem-constant", "mem-temporary", "mem-residual"]],
];

describe.each(HOSTS)("in %s, %s", (_, scheme, host) => {
  const theme = new Tokens(css("style/theme.css"), scheme, host);
  const token = (name: string) => theme.of(`--jxs-${name}`);
  const bg = token("bg");
  const low: [what: string, ratio: number][] = [];
  const check = (what: string, ink: Rgba, ground: Rgb, least: number) => {
    const ratio = contrast(over(ink, ground).slice(0, 3) as Rgb, ground);
    if (ratio < least) low.push([what, Number(ratio.toFixed(2))]);
  };
  /** The declaration of a class that lines of a colour have. */
  const lines = (property: string, n: number): Rgba => {
    const [, value = ""] = new RegExp(`\\.jxs-coloured \\{[^}]*${property}: ([^;]+);`).exec(css("parts/code.css")) ?? [];
    const [, factor = "0"] = /--jxs-shade: calc\(([\d.]+) \*/.exec(css("parts/code.css")) ?? [];
    const hue = nthColour(n);
    return theme.colour(value.replace("light-dark(", "").split(/, (?=oklch)/)[scheme === "light" ? 0 : 1]?.replace(/\)\)$/, ")") ?? "", {
      "--jxs-h": hue % 360,
      "--jxs-shade": Number(factor) * Math.floor(hue / 360),
    });
  };

  it("text can be read on every ground", () => {
    low.length = 0;
    for (const ink of [...CODE, ...MESSAGES]) {
      for (const ground of ["bg", "bg2"]) check(`${ink} on ${ground}`, token(ink), stacked(bg, token(ground)), TEXT);
    }
    for (const ink of CODE) {
      for (const tint of ON_ROWS) check(`${ink} on ${tint}`, token(ink), stacked(bg, token(tint)), TEXT);
      for (let n = 0; n < DISTINCT; n++) check(`${ink} on line colour ${n}`, token(ink), stacked(bg, lines("--jxs-tint", n)), TEXT);
    }
    for (const [ink, ground] of OWN_GROUNDS) check(`${ink} on ${ground}`, token(ink), stacked(bg, token(ground)), TEXT);
    for (const [ink, ground] of OWN_GROUNDS.slice(0, 3)) check(`${ink} on ${ground} on bg2`, token(ink), stacked(token("bg2"), token(ground)), TEXT);
    expect(low).toEqual([]);
  });

  it("what shows focus, selection, states and kinds stands out", () => {
    low.length = 0;
    for (const ink of DRAWN) for (const ground of ["bg", "bg2"]) check(`${ink} on ${ground}`, token(ink), stacked(token(ground)), GRAPHICS);
    for (const tint of ON_ROWS) check(`accent around ${tint}`, token("accent"), stacked(bg, token(tint)), GRAPHICS);
    for (let n = 0; n < DISTINCT; n++) check(`bar of line colour ${n}`, lines("--jxs-edge", n), stacked(bg), GRAPHICS);
    for (const [file, drawn] of TABS) {
      const own = new Tokens(css(file), scheme, host);
      for (const ink of drawn) check(`${file} ${ink}`, own.of(`--jxs-${ink}`), stacked(bg), GRAPHICS);
    }
    expect(low).toEqual([]);
  });
});

it("nothing moves by itself but what stands still where motion is reduced", () => {
  const sheets = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".css"));
  const moving = sheets.filter((file) => /\b(animation|transition|scroll-behavior)(-\w+)*:/.test(css(file)));
  expect(moving).toEqual(["parts/waiting.css"]);
  expect(css("parts/waiting.css")).toMatch(/@media \(prefers-reduced-motion: reduce\) \{\s*\.jxs-stage-running \.jxs-stage-mark,\s*\.jxs-spinner \{[^}]*animation: none;/);
});

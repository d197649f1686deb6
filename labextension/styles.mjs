/** The panel's style sheets as one, by layers; read by both builds. */

import { readFileSync, readdirSync } from "node:fs";
import { SRC } from "./tabs.mjs";

/** Style sheets by layer, the strongest last; those of host.css stand in none. */
const LAYERS = { base: ["style"], parts: ["parts", "parts/grid"], shell: ["shell"], tabs: [] };

const sheets = (folder) =>
  readdirSync(`${SRC}${folder}`)
    .filter((name) => name.endsWith(".css") && name !== "host.css")
    .sort()
    .map((name) => readFileSync(`${SRC}${folder}/${name}`, "utf8"));

export const layer = (name, folders) => `@layer jaxstage.${name} {${folders.flatMap(sheets).join("\n")}}`;
const order = `@layer ${Object.keys(LAYERS).map((name) => `jaxstage.${name}`).join(", ")};`;

/** The sheets of the panel and of the given tabs. */
export const styleOf = (names) =>
  [
    order,
    ...Object.entries({ ...LAYERS, tabs: names.map((name) => `tabs/${name}`) }).map(([name, folders]) => layer(name, folders)),
    readFileSync(`${SRC}style/host.css`, "utf8"),
  ].join("\n");

/** The sheet of what JupyterLab's side panel and tabs of ours draw themselves, without the panel's. */
export const sideStyle = () =>
  [
    order,
    layer("base", LAYERS.base),
    layer("parts", LAYERS.parts),
    layer("tabs", ["hosts/lab/side"]),
    readFileSync(`${SRC}style/host.css`, "utf8"),
  ].join("\n");

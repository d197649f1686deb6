/** The panel's tabs: the folders of src/tabs, each with an index.ts. Read by the build, the tests and, in its own words, hatch_build.py. */

import { existsSync, readFileSync, readdirSync } from "node:fs";

export const SRC = new URL("src/", import.meta.url).pathname;

const index = (name) => `${SRC}tabs/${name}/index.ts`;

export const tabs = readdirSync(`${SRC}tabs`)
  .filter((name) => existsSync(index(name)))
  .sort();

/** Tabs whose index does not import their view: each is a script of its own, loaded when the tab is first opened. */
export const scripts = tabs.filter((name) => !readFileSync(index(name), "utf8").includes('from "./view"'));

/** Tabs that the offline page can show: it has no kernel to load a script from, so they are part of its own. */
export const offline = scripts.filter((name) => readFileSync(index(name), "utf8").includes("offline: true"));

const views = offline.map((name) => `import ${name} from ${JSON.stringify(index(name).replace("index.ts", "view.tsx"))};`).join("\n");
const imports = tabs.map((name) => `import ${name} from ${JSON.stringify(index(name))};`).join("\n");

/** Modules that stand in no file, by name. `shared`: what scripts that are loaded later take from the panel's. */
export const generated = (shared = {}) => ({
  "jaxstage:tabs": `${imports}\nexport const TABS = { ${tabs.join(", ")} };`,
  "jaxstage:offline": `${views}\nexport const VIEWS = { ${offline.join(", ")} };`,
  "jaxstage:shared": [
    ...Object.values(shared).map((path, i) => `import * as m${i} from ${JSON.stringify(path)};`),
    `export const SHARED = { ${Object.keys(shared).map((name, i) => `${JSON.stringify(name)}: m${i}`).join(", ")} };`,
  ].join("\n"),
});

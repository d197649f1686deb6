/** The panel's tabs: the folders of src/tabs, each with an index.ts. Read by the build, the tests and, in its own words, hatch_build.py. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import esbuild from "esbuild";
import { layer } from "./styles.mjs";

export const SRC = new URL("src/", import.meta.url).pathname;

const index = (name) => `${SRC}tabs/${name}/index.ts`;

export const tabs = readdirSync(`${SRC}tabs`)
  .filter((name) => existsSync(index(name)))
  .sort();

/** Tabs whose index does not import their view: each is a script of its own, loaded when the tab is first opened. */
export const scripts = tabs.filter((name) => !readFileSync(index(name), "utf8").includes('from "./view"'));

const minified = (css) => esbuild.transformSync(css, { loader: "css", minify: true, charset: "utf8" }).code.trim();

const viewsOf = (names) =>
  [
    ...names.map((name) => `import ${name} from ${JSON.stringify(index(name).replace("index.ts", "view.tsx"))};`),
    `export const VIEWS = { ${names.join(", ")} };`,
  ].join("\n");
const imports = tabs.map((name) => `import ${name} from ${JSON.stringify(index(name))};`).join("\n");

/** Names the sources: scripts of one name were built from the same ones. */
const build = () => {
  const digest = createHash("sha256");
  const files = readdirSync(SRC, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => `${parentPath}/${name}`.replaceAll("//", "/")).sort();
  for (const path of paths) digest.update(path.slice(SRC.length)).update("\0").update(readFileSync(path)).update("\0");
  return digest.digest("hex").slice(0, 16);
};

/** Modules that stand in no file, by name. An offline page has no kernel to load a tab's script from: all are part of its own. `shared`: by name, the path and the used exports of what scripts that are loaded later take from the panel's. */
export const generated = (shared = {}) => ({
  "jaxstage:build": `export const BUILD = "${build()}";`,
  "jaxstage:tabs": `${imports}\nexport const TABS = { ${tabs.join(", ")} };`,
  "jaxstage:offline": `${viewsOf(scripts)}\nexport const STYLE = ${JSON.stringify(minified(layer("tabs", scripts.map((name) => `tabs/${name}`))))};`,
  "jaxstage:views": viewsOf(scripts),
  "jaxstage:shared": [
    ...Object.values(shared).map(({ path, names }, i) => importOf(path, names, i)),
    `export const SHARED = { ${Object.entries(shared).map(([name, { names }], i) => `${JSON.stringify(name)}: ${objectOf(names, i)}`).join(", ")} };`,
  ].join("\n"),
});

const importOf = (path, names, i) => `import { ${names.map((name) => `${name} as ${name}${i}`).join(", ")} } from ${JSON.stringify(path)};`;
const objectOf = (names, i) => `{ ${names.map((name) => `${name}: ${name}${i}`).join(", ")} }`;

/** The plugin by which esbuild finds them. */
export const generatedModules = (modules) => ({
  name: "generated",
  setup(build) {
    build.onResolve({ filter: /^jaxstage:/ }, ({ path }) => ({ path, namespace: "generated" }));
    build.onLoad({ filter: /./, namespace: "generated" }, ({ path }) => ({ contents: modules[path], resolveDir: SRC }));
  },
});

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { layer, styleOf } from "./styles.mjs";
import { SRC, generated, generatedModules, scripts, tabs } from "./tabs.mjs";

const OUT = new URL("../jaxstage_ext/static/", import.meta.url).pathname;
const LIB = new URL("lib/", import.meta.url).pathname;
/** The kernel sends it once a page, gzipped. */
const PANEL_LIMIT = 120_000;
const STUB_LIMIT = 6_000;
const STYLE_LIMIT = 40_000;

const common = {
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

/** A module's name in both scripts: a package's own, or its path in src. */
const nameOf = (path, resolveDir) => (path.startsWith(".") ? relative(SRC, resolve(resolveDir, path)) : path);

/** What a later script takes from the panel's, which calls it with its own modules. */
const takenFromPanel = (names, taken) => ({
  name: "taken from the panel",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
      const name = nameOf(path, resolveDir);
      if (kind === "entry-point" || !names.has(name)) return undefined;
      taken[name] = path.startsWith(".") ? `./${name}` : name;
      return { path: name, namespace: "panel" };
    });
    build.onLoad({ filter: /./, namespace: "panel" }, ({ path }) => ({
      contents: `module.exports = shared[${JSON.stringify(path)}]`,
    }));
  },
});

const panel = (shared) => ({
  ...common,
  entryPoints: ["src/hosts/anywidget.ts"],
  plugins: [generatedModules(generated(shared))],
  format: "esm",
  outfile: `${OUT}panel.js`,
});

/** What every panel is sent and every notebook's kernel keeps: it finds or fetches the panel's script. */
const stub = () => ({
  ...common,
  entryPoints: ["src/hosts/stub.ts"],
  plugins: [generatedModules(generated())],
  format: "esm",
  outfile: `${OUT}stub.js`,
});

const offline = (shared) => ({
  ...common,
  entryPoints: ["src/hosts/offline.ts"],
  plugins: [generatedModules(generated(shared))],
  format: "iife",
  outfile: `${OUT}standalone.js`,
});

const style = (outfile, names) => ({ ...common, stdin: { contents: styleOf(names), loader: "css", resolveDir: SRC }, outfile });

/** A tab that is loaded when it is first opened: a function of the panel's modules that gives its view and its style. */
const later = async (name, names, taken) => {
  const { code } = await esbuild.transform(layer("tabs", [`tabs/${name}`]), { loader: "css", minify: true, charset: "utf8" });
  return {
    ...common,
    entryPoints: [`src/tabs/${name}/view.tsx`],
    plugins: [takenFromPanel(names, taken)],
    format: "cjs",
    banner: { js: "export default shared=>{const module={exports:{}};" },
    footer: { js: `module.exports.style=${JSON.stringify(code.trim())};return module.exports}` },
    outfile: `${OUT}${name}.js`,
  };
};

/** The modules that the panel's script consists of, by name. */
async function panelModules() {
  const { metafile } = await esbuild.build({ ...panel({}), write: false, metafile: true });
  const own = Object.keys(metafile.inputs).map((path) => relative(SRC, resolve(path)).replace(/\.tsx?$/, ""));
  const packages = Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ original }) => original ?? "."));
  return new Set([...own, ...packages.filter((name) => !name.startsWith(".") && !name.startsWith("jaxstage:"))]);
}

const IMPORT = /^import \{([^}]*)\} from "([^"]+)";/gm;

/** What JSX becomes calls of. */
const OF_JSX = ["preact/jsx-runtime", ["Fragment", "jsx", "jsxs"]];

/** The names that a source file imports of each module, without types. */
function importedNames(path) {
  const found = [...readFileSync(path, "utf8").matchAll(IMPORT)];
  return found.map(([, list, from]) => [nameOf(from, dirname(path)), list.split(",").map((one) => one.trim().split(" as ")[0]).filter((one) => one && !one.startsWith("type "))]);
}

/** Of those the ones that later scripts take, with the exports that they use. */
async function sharedModules(names) {
  const taken = {};
  const built = await Promise.all(scripts.map(async (name) => esbuild.build({ ...(await later(name, names, taken)), write: false, metafile: true })));
  const files = new Set(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)).filter((path) => /^src\/.*\.tsx?$/.test(path)));
  const used = {};
  for (const [name, list] of [...files].flatMap(importedNames).concat([OF_JSX])) for (const one of list) (used[name] ??= new Set()).add(one);
  return Object.fromEntries(Object.entries(taken).sort().map(([name, path]) => [name, { path, names: [...(used[name] ?? [])].sort() }]));
}

async function builds() {
  const names = await panelModules();
  const shared = await sharedModules(names);
  const inPanel = tabs.filter((name) => !scripts.includes(name));
  return [panel(shared), stub(), offline({}), style(`${OUT}panel.css`, inPanel), ...(await Promise.all(scripts.map((name) => later(name, names, {}))))];
}

/** An offline page inlines the script, so no closing tag may stand in it. */
function guardClosingTags(path) {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll("</script", "<\\/script"));
}

function checkSize(name, limit) {
  const size = readFileSync(`${OUT}${name}`).length;
  if (size > limit) throw new Error(`${name} has ${size} bytes; the limit is ${limit}`);
  console.log(`${name}: ${limit - size} B left of ${limit} B`);
}

function report(all) {
  for (const { outfile } of all) {
    const bytes = readFileSync(outfile);
    console.log(`${outfile.split("/").pop()}: ${bytes.length} B, gzip ${gzipSync(bytes).length} B`);
  }
  checkSize("panel.js", PANEL_LIMIT);
  checkSize("stub.js", STUB_LIMIT);
  checkSize("panel.css", STYLE_LIMIT);
  const inTabs = scripts.map((name) => layer("tabs", [`tabs/${name}`])).join("");
  console.log(`style of the tabs that are loaded later: ${esbuild.transformSync(inTabs, { loader: "css", minify: true }).code.length} B`);
}

if (process.argv.includes("--dev")) {
  const page = { ...common, entryPoints: ["dev/paged.tsx"], plugins: [generatedModules(generated())], format: "iife", outfile: `${LIB}paged.js` };
  await Promise.all([page, style(`${LIB}paged.css`, tabs)].map((options) => esbuild.build(options)));
} else if (process.argv.includes("--watch")) {
  writeFileSync(`${OUT}tabs.json`, `${JSON.stringify(scripts)}\n`);
  for (const options of await builds()) await (await esbuild.context(options)).watch();
  console.log("watching the scripts; a style sheet or a new tab takes a build of its own");
} else {
  rmSync(OUT, { recursive: true, force: true });
  const all = await builds();
  await Promise.all(all.map((options) => esbuild.build(options)));
  writeFileSync(`${OUT}tabs.json`, `${JSON.stringify(scripts)}\n`);
  guardClosingTags(`${OUT}standalone.js`);
  report(all);
}

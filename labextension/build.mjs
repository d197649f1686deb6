import { readFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const OUT = new URL("../jaxstage_ext/static/", import.meta.url).pathname;
const PANEL_LIMIT = 120_000;

const common = {
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "info",
};

const SRC = new URL("src/", import.meta.url).pathname;
const names = [...readFileSync(`${SRC}shared.ts`, "utf8").matchAll(/^import \* as \w+ from "(.+)";/gm)].map((found) => found[1]);

/** What a later script takes from the panel's, which calls it with its own modules. */
const shared = {
  name: "shared",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
      const name = path.startsWith(".") ? `./${relative(SRC, resolve(resolveDir, path))}` : path;
      return kind !== "entry-point" && names.includes(name) ? { path: name, namespace: "shared" } : undefined;
    });
    build.onLoad({ filter: /./, namespace: "shared" }, ({ path }) => ({
      contents: `module.exports = shared[${JSON.stringify(path)}]`,
    }));
  },
};

const later = (name) => ({
  ...common,
  entryPoints: [`src/views/${name}Script.ts`],
  plugins: [shared],
  format: "cjs",
  banner: { js: "export default shared=>{const module={exports:{}};" },
  footer: { js: "return module.exports}" },
  outfile: `${OUT}${name}.js`,
});

const LIB = new URL("lib/", import.meta.url).pathname;
const dev = [
  { ...common, entryPoints: ["dev/paged.tsx"], format: "iife", outfile: `${LIB}paged.js` },
  { ...common, entryPoints: ["style/panel.css"], outfile: `${LIB}paged.css` },
];
const builds = [
  { ...common, entryPoints: ["src/panel.tsx"], format: "esm", outfile: `${OUT}panel.js` },
  { ...common, entryPoints: ["src/standalone.tsx"], format: "iife", outfile: `${OUT}standalone.js` },
  { ...common, entryPoints: ["style/panel.css"], outfile: `${OUT}panel.css` },
  later("answers"),
  later("passes"),
  later("cost"),
  later("memory"),
  later("machine"),
  later("options"),
  later("shardings"),
  later("collectives"),
  later("dtypes"),
];

/** An offline page inlines the script, so no closing tag may stand in it. */
function guardClosingTags(path) {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll("</script", "<\\/script"));
}

function report() {
  for (const { outfile } of builds) {
    const bytes = readFileSync(outfile);
    console.log(`${outfile.split("/").pop()}: ${bytes.length} B, gzip ${gzipSync(bytes).length} B`);
    if (outfile.endsWith("panel.js") && bytes.length > PANEL_LIMIT) {
      throw new Error(`panel.js has ${bytes.length} bytes; the limit is ${PANEL_LIMIT}, for every instance sends it`);
    }
  }
}

if (process.argv.includes("--dev")) {
  await Promise.all(dev.map((options) => esbuild.build(options)));
} else if (process.argv.includes("--watch")) {
  for (const options of builds) await (await esbuild.context(options)).watch();
} else {
  await Promise.all(builds.map((options) => esbuild.build(options)));
  guardClosingTags(`${OUT}standalone.js`);
  report();
}

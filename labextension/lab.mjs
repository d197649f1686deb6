/** Builds the JupyterLab extension: our modules by esbuild into lib/lab, then Jupyter's own builder. */

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import * as esbuild from "esbuild";
import { addLicenses } from "./licenses.mjs";
import { checkStart } from "./startScripts.mjs";
import { sideStyle, styleOf } from "./styles.mjs";
import { generated, generatedModules, tabs } from "./tabs.mjs";

const HERE = new URL("./", import.meta.url).pathname;
const OUT = `${HERE}lib/lab`;
/** Of the scripts that every page loads when JupyterLab starts. */
const START_LIMIT = 60_000;

const style = async (name, sheet) => {
  const { code } = await esbuild.transform(sheet, { loader: "css", minify: true, charset: "utf8" });
  return `export const ${name} = ${JSON.stringify(code.trim())};`;
};

const modules = { ...generated(), "jaxstage:style": await style("STYLE", styleOf(tabs)), "jaxstage:side-style": await style("SIDE_STYLE", sideStyle()) };

rmSync(OUT, { recursive: true, force: true });
const { metafile } = await esbuild.build({
  absWorkingDir: HERE,
  entryPoints: ["src/hosts/lab/index.ts"],
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: "esm",
  minifySyntax: true, // the builder minifies the rest; without whitespace, the comments that it reads would be gone
  minifyIdentifiers: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
  external: ["@jupyterlab/*", "@lumino/*", "@codemirror/*"],
  plugins: [generatedModules(modules)],
  metafile: true,
});

const builder = `${HERE}node_modules/@jupyter/builder/lib/build-labextension.js`;
const core = `${HERE}node_modules/@jupyterlab/core-meta/core.package.json`;
execFileSync(process.execPath, [builder, "--core-package-file", core, HERE], { cwd: HERE, stdio: ["ignore", "inherit", "inherit"] });

const built = `${HERE}${JSON.parse(readFileSync(`${HERE}package.json`, "utf8")).jupyterlab.outputDir}/static/`;
addLicenses(`${built}third-party-licenses.json`, metafile, HERE);
checkStart(built, START_LIMIT);

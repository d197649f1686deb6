/** The licences of the packages whose code is in the bundles, in the form in which JupyterLab lists them. */

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

/** The package's folder of an input of esbuild, or undefined where it is a file of our own. */
const folderOf = (input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(input)?.[0];

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!license || !file) throw new Error(`${name} ${version} has no licence or no file of it; it cannot be bundled`);
  return { name, versionInfo: version, licenseId: license, extractedText: readFileSync(folder + file, "utf8") };
}

/** Adds the packages among the inputs of a build, whose paths begin at `base`, to a list that JupyterLab's builder wrote. */
export function addLicenses(path, { inputs }, base) {
  const { packages } = JSON.parse(readFileSync(path, "utf8"));
  const folders = new Set(Object.keys(inputs).map(folderOf).filter(Boolean));
  const all = [...packages, ...[...folders].map((folder) => licenceOf(resolve(base, folder) + "/"))].sort((a, b) => a.name.localeCompare(b.name));
  writeFileSync(path, `${JSON.stringify({ packages: all }, null, 2)}\n`);
}

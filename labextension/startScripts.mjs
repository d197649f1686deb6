/** What of the built extension every page loads when JupyterLab starts. */

import { readFileSync, readdirSync, statSync } from "node:fs";

/** The chunks of the exposed module: those that its loader waits for before the module itself. */
export function startChunks(remoteEntry) {
  const loader = /"\.\/extension":\s*\(\)\s*=>(.*?)\.then\(/s.exec(remoteEntry)?.[1];
  const chunks = [...(loader ?? "").matchAll(/\.e\(\s*"?([^")\s]+)"?\s*\)/g)].map(([, chunk]) => chunk);
  if (chunks.length === 0) throw new Error("remoteEntry: the chunks of ./extension could not be read; the builder writes it differently now");
  return chunks;
}

/** The names of those scripts in the folder of built ones. */
export function startScripts(names, remoteEntry) {
  const chunks = new Set(startChunks(remoteEntry));
  return names.filter((name) => name === "style.js" || name.startsWith("remoteEntry.") || chunks.has(name.split(".")[0]));
}

/** Prints the size of each script; an Error where those of the start exceed the limit together. */
export function checkStart(folder, limit) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const entry = names.find((name) => name.startsWith("remoteEntry."));
  const start = startScripts(names, readFileSync(`${folder}${entry}`, "utf8"));
  const size = (name) => statSync(folder + name).size;
  for (const name of names) console.log(`${name}: ${size(name)} B${start.includes(name) ? ", at start" : ", when needed"}`);
  const sum = start.reduce((bytes, name) => bytes + size(name), 0);
  if (sum > limit) throw new Error(`${start.join(", ")} have ${sum} bytes together; the limit is ${limit}, since every page of JupyterLab loads them`);
  console.log(`at JupyterLab's start: ${sum} B; ${limit - sum} B left of ${limit} B`);
}

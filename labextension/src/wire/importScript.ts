/** A script that came as data from the kernel, as a module: anywidget imports the widget's own in the same way. */

import { gunzip } from "./gzip";

/** Imports gzipped JavaScript. */
export async function importScript(packed: ArrayBuffer): Promise<Record<string, unknown>> {
  const url = URL.createObjectURL(new Blob([await gunzip(packed)], { type: "text/javascript" }));
  try {
    return await import(/* webpackIgnore: true */ url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

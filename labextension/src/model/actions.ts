/** What buttons and keys have in common. */

import { Refusal, messageOf } from "../wire/errors";
import type { Doc } from "./document";
import type { Show } from "./rewrite";
import { definition, nextUse } from "./symbols";
import type { Documents } from "./documents";
import type { Selection } from "./selection";

export function toggle(selection: Selection, what: keyof Show): void {
  const { show } = selection.get();
  selection.set({ show: { ...show, [what]: !show[what] } });
}

/** From the selected HLO line to the kernels that came from it. */
export function showMachineCode(selection: Selection): void {
  if (selection.summary?.views.includes("machine")) selection.set({ view: "machine" });
}

/** Opens the whole files beside the source, at the first line that a row of it leaves out; they are not saved. */
export async function showWhole(documents: Documents, selection: Selection, doc: Doc, row: number): Promise<void> {
  try {
    const info = await documents.wholeFiles(doc.call);
    selection.set({ librarySource: info });
    const whole = documents.doc(info.kind, doc.call);
    const [file, above] = [doc.rows?.file?.[row] ?? -1, doc.rows?.number?.[row - 1] ?? -1];
    const go = () => selection.select(info.kind, Math.max(0, documents.sourceRow(file, Math.max(above, 0) + 1, info.kind)), "");
    const undo = whole?.onChange(() => {
      if (!whole.rows) return;
      undo?.();
      go();
    });
    if (whole?.rows) go();
  } catch (error) {
    const absent = error instanceof Refusal && error.kind === "absent";
    selection.say(absent ? "Only the functions that took part are saved; run the notebook to see the rest." : messageOf(error));
  }
}

export function foldAll(doc: Doc): void {
  if (doc.folds.anyFolded) doc.folds.unfoldAll();
  else doc.folds.foldAll();
  doc.changed();
}

export async function goToDefinition(
  selection: Selection,
  doc: Doc,
  name: string,
  row: number,
  global: boolean,
): Promise<void> {
  const found = await definition(doc, name, row, global).catch(() => -1);
  if (found >= 0) selection.go(doc.kind, row, found);
  else selection.say(`The definition of ${name} is not in this document.`);
}

/** From where a name is bound to where it is used: from a computation to its callers, one after the other. */
export async function goToUse(selection: Selection, doc: Doc, name: string, row: number, global: boolean): Promise<void> {
  const found = await nextUse(doc, name, row, global).catch(() => -1);
  if (found >= 0) selection.go(doc.kind, row, found);
  else selection.say(`Nothing in this document uses ${name}.`);
}

/** Puts text on the clipboard, and says so. */
export async function copy(selection: Selection, what: string, text: Promise<string>): Promise<void> {
  try {
    await writeClipboard(await text);
    selection.say(`Copied ${what}.`);
  } catch (error) {
    selection.say(`Not copied: ${error instanceof Error ? error.message : "the browser refused"}`);
  }
}

export function copyLine(selection: Selection, doc: Doc, row = doc.current): Promise<void> {
  return copy(selection, `line ${row + 1} of ${doc.info.title}`, Promise.resolve(doc.text?.line(row) ?? ""));
}

export function copyAll(selection: Selection, doc: Doc): Promise<void> {
  return copy(selection, doc.info.title, doc.text?.all() ?? Promise.resolve(""));
}

/** The clipboard's own interface needs a secure page; the old command works in all. */
async function writeClipboard(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.cssText = "position:fixed;opacity:0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("the browser refused access to the clipboard");
  }
}

const BUDGET_MS = 150;

/** Runs the pane's search; a newer query wins. Shows the first hit at or after the current row. */
export async function runSearch(doc: Doc, query: string, matchCase: boolean): Promise<void> {
  doc.search = { ...doc.search, query, matchCase, hits: null, at: -1 };
  const asked = doc.search;
  const slow = setTimeout(() => doc.changed(), BUDGET_MS);
  try {
    const hits = (await doc.text?.search(query, matchCase)) ?? null;
    if (doc.search !== asked) return;
    const at = hits ? hits.rows.findIndex((row) => row >= doc.current) : -1;
    doc.search = { ...doc.search, hits, at: hits?.rows.length ? Math.max(0, at) : -1 };
  } catch (error) {
    if (doc.search === asked) doc.problem = messageOf(error);
  } finally {
    clearTimeout(slow);
    doc.changed();
  }
}

export function stepHit(doc: Doc, by: 1 | -1): void {
  const { hits, at } = doc.search;
  const n = hits?.rows.length ?? 0;
  if (n === 0) return;
  doc.search = { ...doc.search, at: (at + by + n) % n };
  doc.changed();
}

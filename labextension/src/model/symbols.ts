/** Where names are bound. Names repeat between blocks, so a binding counts only where it can be seen. */

import type { Doc } from "./document";
import { type Token, isName, nameOf, tokenise } from "./highlight";

/** The block whose names a row sees: in a jaxpr the nearest lambda, in HLO the computation, in MLIR any region. */
function scopeOf(doc: Doc, row: number): number {
  if (doc.kind === "jaxpr" && opensLambda(doc, row)) return row;
  let scope = opensScope(doc, row) ? row : doc.folds.parent(row);
  if (doc.kind === "jaxpr") while (scope >= 0 && !opensLambda(doc, scope)) scope = doc.folds.parent(scope);
  return scope;
}

function opensLambda(doc: Doc, row: number): boolean {
  return /\{ lambda\b/.test(doc.text?.line(row) ?? "");
}

function opensScope(doc: Doc, row: number): boolean {
  if (!doc.folds.canFold(row) || doc.kind === "jaxpr") return false;
  return doc.kind === "hlo" || /\bfunc\.func\b|\^bb\d/.test(doc.text?.line(row) ?? "");
}

function encloses(doc: Doc, outer: number, inner: number): boolean {
  for (let scope = inner; ; scope = doc.folds.parent(scope)) {
    if (scope === outer) return true;
    if (scope < 0) return false;
  }
}

/** Whether the same name in two rows is the same value. */
export function sameScope(doc: Doc, a: number, b: number): boolean {
  const scopeA = scopeOf(doc, a);
  const scopeB = scopeOf(doc, b);
  if (scopeA === scopeB) return true;
  if (doc.kind !== "stablehlo") return false;
  return encloses(doc, scopeA, scopeB) || encloses(doc, scopeB, scopeA);
}

function needle(kind: string, name: string, binding: boolean): string {
  if (kind === "jaxpr") return binding && !name.startsWith("_") ? `${name}:` : name;
  return kind === "stablehlo" && !/^[@^]/.test(name) ? `%${name}` : name;
}

/** The row that binds the name as seen from `row`; -1 when there is none. */
export async function definition(doc: Doc, name: string, row: number, global: boolean): Promise<number> {
  if (doc.paged) {
    const { result } = await doc.ask("symbol", { name, row });
    return typeof result.definition === "number" ? result.definition : -1;
  }
  const rows = await mentions(doc, name, true);
  if (global) return rows[0] ?? -1;
  const seen = rows.filter((binding) => sameScope(doc, binding, row));
  return seen.filter((binding) => binding <= row).at(-1) ?? seen[0] ?? -1;
}

/** The next row after `row` that uses the name without binding it, round to the first; -1 when there is none. */
export async function nextUse(doc: Doc, name: string, row: number, global: boolean): Promise<number> {
  const uses = doc.paged ? await usesFromKernel(doc, name, row) : await mentions(doc, name, false);
  const seen = global ? uses : uses.filter((use) => sameScope(doc, use, row));
  return seen.find((use) => use > row) ?? seen[0] ?? -1;
}

async function usesFromKernel(doc: Doc, name: string, row: number): Promise<number[]> {
  const { result } = await doc.ask("symbol", { name, row });
  return Array.isArray(result.uses) ? result.uses.filter((use) => typeof use === "number") : [];
}

async function mentions(doc: Doc, name: string, binding: boolean): Promise<number[]> {
  const wanted = (token: Token) => (token.def === true) === binding;
  const hits = await doc.text?.search(needle(doc.kind, name, binding && name.length < 5), true);
  return [...new Set(hits?.rows)].filter((row) => {
    const line = doc.text?.line(row) ?? "";
    return tokenise(doc.kind, line).some((t) => isName(t) && wanted(t) && nameOf(line, t) === name);
  });
}

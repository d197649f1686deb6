/** The toggles of the text: which stretches of a line are not shown. Columns stay those of the whole line. */

import { byName } from "../wire/check";

export interface Show {
  types: boolean;
  layouts: boolean;
  metadata: boolean;
}

export type Stretch = [start: number, end: number];

interface Patterns {
  types: RegExp[];
  layouts: RegExp[];
  metadata: RegExp[];
}

const DTYPE = "(?:pred|bool|token|opaque|[usif]\\d+|bf16|f8\\w+|c64|c128|key<\\w+>)";
const SHAPE = `${DTYPE}\\[[^\\]]*\\]`;
const LAYOUT = String.raw`\{[\d,]*(?::[^{}]*)?\}`;
const ARRAY = `${SHAPE}(?:${LAYOUT})?`;

const HLO: Patterns = {
  types: [
    new RegExp(String.raw`(?<= = )${ARRAY} `, "g"),
    new RegExp(String.raw`(?<= = )\((?:[^()]|\([^()]*\))*\) (?=[a-z][\w-]*\()`, "g"),
    new RegExp(String.raw`(?<=[(,] ?[\w.-]+): (?:${ARRAY}|\((?:[^()]|\([^()]*\))*\))`, "g"),
    new RegExp(String.raw` -> (?:${ARRAY}|\((?:[^()]|\([^()]*\))*\))(?= \{$)`, "g"),
    new RegExp(String.raw`(?<=[(,] ?)${ARRAY} (?=%)`, "g"),
  ],
  layouts: [new RegExp(String.raw`(?<=[\w]\[[^\]]*\])${LAYOUT}`, "g")],
  metadata: [/, (?:metadata|backend_config|frontend_attributes|origin)=(?:\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*\})*\}|"(?:[^"\\]|\\.)*")/g],
};

const STABLEHLO: Patterns = {
  types: [/ : (?:\(.*|[!a-z]\S*<.*?)(?=(?: \{)?$)/g, /(?<=%[\w$.-]+): (?:tensor|tuple|!stablehlo\.token)(?:<(?:[^<>]|<[^<>]*>)*>)?/g, / -> \(?tensor<.*(?= \{$)/g],
  layouts: [],
  metadata: [/ loc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)$/g, / \{(?:mhlo|jax)\.[^{}]*\}/g],
};

const JAXPR: Patterns = {
  types: [new RegExp(String.raw`(?<=[\w)]):(?:Ref\{[^}]*\}|${DTYPE}(?:<\w+>)?(?:\[[^\]]*\])?(?:\{[^}]*\})?)`, "g")],
  layouts: [],
  metadata: [],
};

const PATTERNS = byName<Patterns>({ hlo: HLO, stablehlo: STABLEHLO, jaxpr: JAXPR });

/** Disjoint, ascending. */
export function hiddenStretches(kind: string, line: string, show: Show): Stretch[] {
  const patterns = PATTERNS[kind];
  if (!patterns) return [];
  const stretches: Stretch[] = [];
  for (const toggle of ["types", "layouts", "metadata"] as const) {
    if (show[toggle]) continue;
    for (const pattern of patterns[toggle]) {
      for (const m of line.matchAll(pattern)) stretches.push([m.index, m.index + m[0].length]);
    }
  }
  return merged(stretches);
}

function merged(stretches: Stretch[]): Stretch[] {
  const out: Stretch[] = [];
  for (const [start, end] of stretches.sort((a, b) => a[0] - b[0])) {
    const last = out[out.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([start, end]);
  }
  return out;
}

export function overlaps(stretches: Stretch[], start: number, end: number): boolean {
  return stretches.some(([from, to]) => start < to && from < end);
}

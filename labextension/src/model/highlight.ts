/** Tokens of one line. Only visible lines are ever tokenised, so a regular expression a kind will do. */

import { byName } from "../wire/check";

export interface Token {
  start: number;
  end: number;
  /** kw, str, num, com, type, op, attr, name (a value), ref (a computation or function) or "" */
  cls: string;
  /** The line binds this name. */
  def?: boolean;
  /** What else is done to its element. */
  drawn?: (node: HTMLElement) => void;
}

export type Rule = [cls: string, pattern: string];

export const STRING: Rule = ["str", String.raw`"(?:[^"\\]|\\.)*"?`];
export const NUMBER: Rule = ["num", String.raw`(?<![\w.%#@])-?(?:0x[\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|inf\b|nan\b)`];
const DTYPE = "(?:pred|bool|token|opaque|key<\\w+>|[usif]\\d+|bf16|f8\\w+|c64|c128|float\\d+|int\\d+|uint\\d+)";

/** Of each kind; a tab adds those of kinds that it alone shows. */
export const RULES = byName<Rule[]>({
  python: [
    ["com", "#.*"],
    ["str", String.raw`[rbfuRBFU]{0,2}(?:"""(?:[^\\]|\\.)*?(?:"""|$)|'''(?:[^\\]|\\.)*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)`],
    ["op", String.raw`@[\w.]+`],
    [
      "kw",
      String.raw`\b(?:False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b`,
    ],
    ["num", String.raw`(?<![\w.])(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?j?)`],
    ["op", String.raw`[A-Za-z_]\w*(?=\s*\()`],
    ["", String.raw`[A-Za-z_]\w*`],
  ],
  jaxpr: [
    STRING,
    ["type", String.raw`(?<=[\w})]):(?:(?:Ref|MemRef|AbstractRef|Array)\{[^}]*\}|${DTYPE}(?:<\w+>)?(?:\[[^\]]*\])?(?:\{[^}]*\})?|[A-Za-z_][\w.]*\[[^\]]*\])`],
    NUMBER,
    ["ref", String.raw`(?<=jaxpr=)[A-Za-z_]\w*|[A-Za-z_]\w*(?= = \{ lambda)`],
    ["kw", String.raw`\b(?:lambda|let|in)\b(?!=)|(?<![\w])_(?=:)`],
    ["attr", String.raw`\b[A-Za-z_]\w*(?==)`],
    ["op", String.raw`(?<= = )[A-Za-z_][\w-]*(?:\:\w+)?`],
    ["name", String.raw`(?<![\w.'=])[a-z]{1,4}(?![\w.'(=\[])`],
    ["", String.raw`[A-Za-z_][\w.]*`],
  ],
  stablehlo: [
    ["com", "//.*"],
    STRING,
    ["name", String.raw`%[\w$.-]+(?:#\d+)?`],
    ["ref", String.raw`@[\w$.-]+|@"[^"]*"`],
    ["type", String.raw`!?\b(?:tensor|tuple|vector|memref|stablehlo\.token)(?:<(?:[^<>]|<[^<>]*>)*>)?`],
    ["kw", String.raw`\b(?:module|func\.func|func\.call|call|public|private|return|stablehlo\.return|attributes|applies|across|dimensions|cond|do|init|reducer|loc)\b(?! =)`],
    ["op", String.raw`\b(?:stablehlo|chlo|mhlo|sdy|func|arith|mpmd|math|memref|vector|scf|cf|tpu|tt|ttg|xtile|xla|llvm|nvvm)\.[\w.]+`],
    ["attr", String.raw`\b[A-Za-z_][\w.]*(?= = )`],
    ["name", String.raw`\^bb\d+`],
    NUMBER,
    ["", String.raw`[A-Za-z_][\w.]*`],
  ],
  hlo: [
    ["com", String.raw`/\*.*?\*/|//.*`],
    STRING,
    ["type", String.raw`(?<![%\w.])${DTYPE}\[[^\]]*\](?:\{[^}]*\})?|(?<![%\w.])token\[\]`],
    ["ref", String.raw`(?<=\b(?:calls|to_apply|body|condition|called_computations=\{|branch_computations=\{|true_computation|false_computation|async_computation|comparator|select|scatter)=?\{?)%?[\w.-]+|(?<=(?:branch_computations|called_computations|calls)=\{[^}]*)%[\w.-]+|^%[\w.-]+(?= \()|(?<=^ENTRY )%?[\w.-]+`],
    ["name", String.raw`%[\w.-]+`],
    ["kw", String.raw`^HloModule\b|^ENTRY\b|\bROOT\b`],
    ["name", String.raw`(?<=[(,] ?)[A-Za-z_][\w.-]*(?=: )`],
    ["attr", String.raw`\b[A-Za-z_]\w*(?==)`],
    NUMBER,
    ["op", String.raw`(?<=[\])}] )[a-z][\w-]*(?=\()`],
    ["", String.raw`[A-Za-z_][\w.-]*`],
  ],
});

/** Texts of kernels are called "stage:kernel"; some stages are written alike. */
const WRITTEN_AS = byName<string>({ llvm0: "llvm", mosaic: "stablehlo", ttir: "stablehlo" });

function languageOf(kind: string): string {
  const stage = kind.split(":", 1)[0] ?? kind;
  return WRITTEN_AS[stage] ?? stage;
}

interface Lexer {
  pattern: RegExp;
  classes: string[];
}

function compile(rules: Rule[]): Lexer {
  const pattern = new RegExp(rules.map(([, source]) => `(${source})`).join("|"), "g");
  return { pattern, classes: rules.map(([cls]) => cls) };
}

const lexers = new Map<string, Lexer>();

function lexer(kind: string): Lexer | undefined {
  const rules = RULES[kind];
  if (rules && !lexers.has(kind)) lexers.set(kind, compile(rules));
  return lexers.get(kind);
}

const MAX_TOKENS = 1500;

/** Tokens that have a class, in order; what is between them is plain. */
export function tokenise(document: string, line: string): Token[] {
  const kind = languageOf(document);
  const lex = lexer(kind);
  const tokens: Token[] = [];
  if (!lex) return tokens;
  lex.pattern.lastIndex = 0;
  for (let m = lex.pattern.exec(line); m && tokens.length < MAX_TOKENS; m = lex.pattern.exec(line)) {
    if (!m[0]) lex.pattern.lastIndex++;
    const cls = lex.classes[m.findIndex((part, i) => i > 0 && part !== undefined) - 1];
    if (cls) tokens.push({ start: m.index, end: m.index + m[0].length, cls });
  }
  return tokens.map((token) => (isName(token) && binds(kind, line, token) ? { ...token, def: true } : token));
}

export function isName(token: Token): boolean {
  return token.cls === "name" || token.cls === "ref";
}

/** The name itself: without MLIR's result number, HLO's % and so on, so that all spellings agree. */
export function nameOf(line: string, token: Token): string {
  return line.slice(token.start, token.end).replace(/#\d+$/, "").replace(/^%/, "");
}

function binds(kind: string, line: string, token: Token): boolean {
  const rest = line.slice(token.end);
  const before = line.slice(0, token.start);
  if (kind === "jaxpr") return rest.startsWith(token.cls === "ref" ? " = {" : ":");
  if (kind === "hlo") {
    if (token.cls === "ref") return /^(ENTRY )?$/.test(before);
    return /^\s*(ROOT )?$/.test(before) ? rest.startsWith(" = ") : rest.startsWith(": ");
  }
  if (token.cls === "ref") return /\bfunc\.func\b[^@]*$/.test(before);
  const inHead = /(?:@[\w$.-]+|\^bb\d+)\(/.test(before) && /^: [!a-z]/.test(rest);
  const inWhile = before.includes("while(") && rest.startsWith(" = %");
  const isResult = /^\s*(%[\w$.:-]+, )*$/.test(before) && /^(:\d+)?(, %[\w$.-]+(:\d+)?)* = /.test(rest);
  return inHead || inWhile || isResult;
}

/** Docstrings span lines: for each row of a Python document, the quotes it begins inside of. */
export function openQuotes(lines: Iterable<string>): (string | null)[] {
  const open: (string | null)[] = [];
  let inside: string | null = null;
  for (const line of lines) {
    open.push(inside);
    inside = quotesAfter(line, inside);
  }
  return open;
}

function quotesAfter(line: string, inside: string | null): string | null {
  const pattern = /\\.|"""|'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|#.*/g;
  if (inside) {
    const end = line.indexOf(inside);
    if (end < 0) return inside;
    pattern.lastIndex = end + 3;
  }
  for (let m = pattern.exec(line); m; m = pattern.exec(line)) {
    if (m[0] !== '"""' && m[0] !== "'''") continue;
    const end = line.indexOf(m[0], m.index + 3);
    if (end < 0) return m[0];
    pattern.lastIndex = end + 3;
  }
  return null;
}

export function tokenisePython(line: string, inside: string | null): Token[] {
  if (!inside) return tokenise("python", line);
  const end = line.indexOf(inside);
  const close = end < 0 ? line.length : end + 3;
  const rest = tokenise("python", line.slice(close));
  return [{ start: 0, end: close, cls: "str" }, ...rest.map((t) => ({ ...t, start: t.start + close, end: t.end + close }))];
}

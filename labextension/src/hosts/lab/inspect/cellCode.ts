/** What the kernel is sent for a cell or a call that is inspected from the page: a magic's line, then the user's text. */

export const STAGES = ["trace", "lower", "compile", "profile"] as const;
export type StageName = (typeof STAGES)[number];

/** The stages that are made for a target. */
const TARGETED: readonly StageName[] = ["lower", "compile"];

/** A stage with its target and its other options, as they are typed behind the magic's name. */
export interface Choice {
  stage: StageName;
  target: string;
  options: string;
}

export const isStage = (name: unknown): name is StageName => STAGES.some((stage) => stage === name);

export const hasTarget = (stage: StageName): boolean => TARGETED.includes(stage);

/** The name of the cell magic that a text begins with; null without one. Blank lines may come first, as in IPython. */
export function cellMagic(text: string): string | null {
  return /^%%(\w+)/.exec(text.trimStart())?.[1] ?? null;
}

function optionsOf({ stage, target, options }: Choice): string[] {
  const targets = hasTarget(stage) ? target.split(/[\s,]+/).filter(Boolean) : [];
  return [...targets.map((name) => `-t ${name}`), options.replace(/\s+/g, " ").trim()].filter(Boolean);
}

/** The text of a cell below the magic of a choice; line numbers are those of the text. */
export function codeOfCell(choice: Choice, text: string): string {
  return `${[`%%${choice.stage}`, "--from-toolbar", ...optionsOf(choice)].join(" ")}\n${text}`;
}

/** A call behind the magic of a choice; a call of several lines stands below it. */
export function codeOfCall(choice: Choice, call: string): string {
  const isLine = !call.includes("\n");
  const first = [`${isLine ? "%" : "%%"}${choice.stage}`, ...optionsOf(choice)].join(" ");
  return `${first}${isLine ? " " : "\n"}${call}`;
}

/** The target and the options of a magic's line without the calls on it; quotes and brackets hold together. */
export function choiceOfOptions(stage: StageName, line: string): Choice {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  const targets: string[] = [];
  const options: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const given = /^(?:-t|--target)(?:=?(.+))?$/s.exec(word);
    if (given && hasTarget(stage)) targets.push(given[1] ?? words[++at] ?? "");
    else if (word !== "--from-toolbar") options.push(word);
  }
  return { stage, target: targets.join(" "), options: options.join(" ") };
}

/** What a panel's state says by itself, in plain text: its calls, their targets, how far their stages are, and errors. */

import { type Fields, fields, list, number, text } from "../wire/check";
import { clock, duration } from "../wire/figures";

const MOST_CALLS = 20;

/** `came` is the Date.now() at which the state came, null where the kernel does not answer. */
function stageText(stage: Fields, came: number | null): string {
  const seconds = number(stage.seconds);
  const elapsed = () => (number(stage.elapsed) ?? 0) + (Date.now() - (came ?? 0)) / 1000;
  const running = () => (came === null ? "not finished; the kernel does not answer" : `running… ${clock(elapsed())}`);
  const state = text(stage.state);
  const said = state === "running" ? running() : state === "done" && seconds !== null ? duration(seconds) : state;
  return `${text(stage.name)} ${said}`;
}

function callText(call: Fields, came: number | null): string {
  const { name, target, stages, error } = call;
  const { stage, type, message, interrupted } = fields(error);
  const lines = [`${text(name)}  ${text(target)}`, list(stages).map((one) => stageText(fields(one), came)).join(" · ")];
  if (interrupted !== true && type) lines.push(`${text(stage)} failed: ${text(type)}: ${text(message).split("\n")[0]}`);
  return lines.join("\n");
}

export const progressText = (state: unknown, came: number | null): string =>
  list(fields(state).calls, MOST_CALLS).map((call) => callText(fields(call), came)).join("\n");

import { clock } from "../wire/figures";
import { useEffect, useReducer } from "preact/hooks";
import { WorkerLog } from "./workerLog";
import type { Answer } from "../model/question";
import { Said, unquoted } from "./said";

/** Beside a control, what it waits for: how long already, how far it is, and a way out. */
export function Asking({ question }: { question: Answer<unknown> }) {
  const elapsed = useElapsed(question.since, question.state === "waiting");
  if (question.state === "waiting") {
    return (
      <span class="jxs-asking" role="status">
        <i class="jxs-spinner" aria-hidden="true" />
        {elapsed > 0.5 && (
          <>
            {question.progress} <span aria-hidden="true">{clock(elapsed)}</span>
            <button type="button" class="jxs-button" onClick={question.stop}>
              Cancel
            </button>
          </>
        )}
      </span>
    );
  }
  return (
    <span class="jxs-asking">
      <span class="jxs-asking-why jxs-cut" role="alert" title={unquoted(question.problem)}>
        {question.problem || "stopped"}
      </span>
      <button type="button" class="jxs-button" onClick={question.askAgain}>
        Try again
      </button>
    </span>
  );
}

const TICK_MS = 200;
/** What is there sooner needs no word. */
const SOON_MS = 300;

/** Seconds since a moment of Date.now(), as they go by; no kernel is asked for them. */
export function useElapsed(since: number, running: boolean): number {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => redraw(undefined as never), TICK_MS);
    return () => clearInterval(timer);
  }, [running]);
  return Math.max(0, Date.now() - since) / 1000;
}

/** In place of what is not there yet: what is being done, how long already, how far it is; and a way out. */
export function Waiting({ question, what }: { question: Answer<unknown>; what: string }) {
  const waiting = question.state === "waiting";
  const elapsed = useElapsed(question.since, waiting);
  if (question.state === "failed") return <Failed question={question} />;
  if (question.state === "stopped") return <Refused text="Stopped." button="Start again" onClick={question.askAgain} />;
  const soon = elapsed * 1000 < SOON_MS;
  return (
    <div class={soon ? "jxs-look jxs-look-soon" : "jxs-look"} aria-busy={waiting}>
      <i class="jxs-spinner" aria-hidden="true" />
      <span role="status" aria-live="polite">
        {what}…{question.progress && <span class="jxs-dim"> {question.progress}</span>}
      </span>
      <span class="jxs-clock jxs-tabular" aria-hidden="true">
        {clock(elapsed)}
      </span>
      <button type="button" class="jxs-button jxs-boxed" onClick={question.stop}>
        Cancel
      </button>
    </div>
  );
}

/** What a worker process did not survive is explained by its log at times. */
function Failed({ question }: { question: Answer<unknown> }) {
  return (
    <>
      <Refused text={question.problem} button={question.isAbsent ? "" : "Try again"} onClick={question.askAgain} />
      {question.hasLog && <WorkerLog />}
    </>
  );
}

function Refused({ text, button, onClick }: { text: string; button: string; onClick: () => void }) {
  return (
    <div class="jxs-look" role="alert">
      <span class="jxs-look-text jxs-anywhere"><Said text={text} /></span>
      {button && (
        <button type="button" class="jxs-button jxs-boxed" onClick={onClick}>
          {button}
        </button>
      )}
    </div>
  );
}

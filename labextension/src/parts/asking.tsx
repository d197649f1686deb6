import { clock } from "../wire/figures";
import { useElapsed } from "./waiting";
import type { Answer } from "../model/question";

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
      <span class="jxs-asking-why jxs-cut" role="alert" title={question.problem}>
        {question.problem || "stopped"}
      </span>
      <button type="button" class="jxs-button" onClick={question.askAgain}>
        Try again
      </button>
    </span>
  );
}

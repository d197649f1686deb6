import { useElapsed } from "../parts/waiting";
import type { Stage } from "../wire/state";
import type { Reply } from "../wire/source";
import { usePanel, useQuestion, useQuestions, useSelection } from "../parts/hooks";

/** Seconds after which a compile takes long. */
const LONG = 5;

interface Wait {
  text: string;
  canStop: boolean;
}

function read({ result }: Reply): Wait {
  return { text: typeof result.text === "string" ? result.text : "", canStop: result.can_stop === true };
}

/** Of a compile that takes long: where it runs, what stops it, and the button where something does. */
export function LongCompile({ stage }: { stage: Stage }) {
  const panel = usePanel();
  return useElapsed(panel.since(stage), true) < LONG ? null : <Offer />;
}

function Offer() {
  const selection = useSelection();
  const questions = useQuestions();
  const wait = useQuestion("compile wait", {}, read).value;
  if (!wait?.text) return null;
  const cancel = () => void questions.request("stop compile", { call: selection.call }).catch(() => undefined);
  return (
    <div class="jxs-note jxs-long-compile" role="status">
      <span class="jxs-anywhere">{wait.text}</span>
      {wait.canStop && (
        <button type="button" class="jxs-button jxs-boxed" onClick={cancel}>
          Cancel
        </button>
      )}
    </div>
  );
}

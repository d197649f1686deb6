import type { Session } from "../model/session";
import { useQuestion } from "../parts/useQuestion";
import { useElapsed } from "../parts/waiting";
import type { Stage } from "../wire/state";
import type { Reply } from "../wire/source";

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
export function LongCompile({ session, stage }: { session: Session; stage: Stage }) {
  return useElapsed(session.since(stage), true) < LONG ? null : <Offer session={session} />;
}

function Offer({ session }: { session: Session }) {
  const wait = useQuestion(session, "compile wait", {}, read).value;
  if (!wait?.text) return null;
  const cancel = () => void session.source.request("stop compile", { call: session.call }).catch(() => undefined);
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

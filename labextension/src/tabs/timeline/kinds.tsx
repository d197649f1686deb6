/** Which of a call's timelines is shown, the measured or the predicted one: all below asks for that one. */

import type { ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { Questions } from "../../model/question";
import { SessionContext, useKeptState, useSelection } from "../../parts/hooks";
import type { Params, Reply } from "../../wire/source";

const TITLES = { measured: "Measured", predicted: "Predicted" } as const;
const HINTS = { measured: "what the profiler recorded", predicted: "estimates; nothing ran" } as const;
type Kind = keyof typeof TITLES;

export const isKind = (name: string): name is Kind => Object.hasOwn(TITLES, name);

/** The questions of a session, each of the timeline of one kind; "" leaves open which. */
export function questionsOf(questions: Questions, of: string): Questions {
  if (!of) return questions;
  const own = Object.create(questions) as Questions;
  own.request = (method, params = {}) => questions.request(method, { ...params, of });
  own.ask = (method, params = {}) => questions.ask(method, { ...params, of });
  own.asked = <T,>(method: string, params: Params, read: (reply: Reply) => T | Promise<T>) => questions.asked(method, { ...params, of }, read);
  return own;
}

/** [what the user chose, "" for nothing; chooses]. */
export const useChosenKind = (): [string, (kind: string) => void] => useKeptState(`timeline kind ${useSelection().call}`, "");

export function OfKind({ kind, children }: { kind: string; children: ComponentChildren }) {
  const session = useContext(SessionContext);
  const own = useMemo(() => Object.create(session, { questions: { value: questionsOf(session.questions, kind) } }) as typeof session, [session, kind]);
  return <SessionContext.Provider value={own}>{children}</SessionContext.Provider>;
}

/** The choice, where there is one. */
export function KindChoice({ kinds, now, onChoose }: { kinds: string[]; now: string; onChoose: (kind: string) => void }) {
  const known = kinds.filter(isKind);
  if (known.length < 2) return null;
  return (
    <div class="jxs-tl-kinds jxs-strip">
      <span class="jxs-group" role="group" aria-label="Which timeline">
        {known.map((kind) => (
          <button type="button" class="jxs-toggle" key={kind} title={HINTS[kind]} aria-pressed={kind === now} onClick={() => onChoose(kind)}>
            {TITLES[kind]}
          </button>
        ))}
      </span>
    </div>
  );
}

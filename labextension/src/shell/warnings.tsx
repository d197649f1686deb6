import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Warned } from "../model/lane";
import type { Session } from "../model/session";
import type { Reply } from "../wire/source";
import { Asking } from "../parts/asking";
import { useKernelState, useShared } from "../parts/hooks";
import { useQuestion } from "../parts/useQuestion";

const CHECK =
  "Finds values that are resharded or fully replicated, and their lines; recompiles the program up to the partitioner";

/** Characters of what the strip below says in full. */
const MOST_SAID = 60;

/** Tabs for which the compiler is asked the same. */
const ASKING = ["collectives", "answers"];

export const readExchanges = ({ result }: Reply) => ({
  collectives: typeof result.collectives === "number" ? result.collectives : 0,
  known: result.known === true,
});

/** Goes to the next warning of the call, the gravest first. */
export function nextWarning(session: Session): void {
  const placed = session.store.get().warned?.placed ?? [];
  const key = `warning of ${session.call}`;
  const before = session.recall(key);
  const at = typeof before === "number" ? (before + 1) % placed.length : 0;
  const [place] = placed[at]?.places ?? [];
  if (!place) return session.say("No warnings, or not checked yet: see the header of the panel.");
  session.keep(key, at);
  session.show(place.doc, place.row);
  const said = placed[at]?.text.split("\n")[0] ?? "";
  return session.say(`${at + 1} of ${placed.length}: ${said.length > MOST_SAID ? `${said.slice(0, MOST_SAID)}…` : said}`);
}

function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <>
      <span class="jxs-label">{label}</span>
      <span class="jxs-value jxs-tabular">{children}</span>
    </>
  );
}

function Found({ session, warned }: { session: Session; warned: Warned }) {
  if (!warned.total) return <Labelled label="resharding">none</Labelled>;
  return (
    <button
      type="button"
      class={warned.isGrave ? "jxs-warned jxs-warned-grave" : "jxs-warned"}
      title="Go to the next line (w)"
      onClick={() => nextWarning(session)}
    >
      {warned.isGrave ? "⚠ " : "⇄ "}
      {warned.summary}
    </button>
  );
}

function Ask({ session }: { session: Session }) {
  const question = useQuestion(session, "warnings", {}, Warned.read);
  useEffect(() => session.store.set({ warned: question.value }), [question.value]);
  if (question.value) return <Found session={session} warned={question.value} />;
  return (
    <Labelled label="resharding">
      <Asking question={question} />
    </Labelled>
  );
}

/** Asks by itself once that costs nothing: another look has had the program compiled as far as the partitioner. */
function useAsked(session: Session, known: boolean): [boolean, () => void] {
  const key = `warnings asked ${session.call}`;
  const [asked, set] = useState(session.recall(key) === true);
  const view = useShared(session, (s) => s.view);
  const lane = useShared(session, (s) => (s.measure === "sharding" ? s.lane : null));
  const [visited, visit] = useState(false);
  const ask = () => {
    session.keep(key, true);
    set(true);
  };
  useEffect(() => {
    if (ASKING.includes(view)) visit(true);
    else if (visited || known || lane) ask();
  }, [view, known, lane]);
  return [asked, ask];
}

function Resharding({ session }: { session: Session }) {
  const question = useQuestion(session, "exchanges", {}, readExchanges);
  const [asked, ask] = useAsked(session, question.value?.known ?? false);
  const count = question.value?.collectives ?? 0;
  if (!count) return null;
  return (
    <div role="listitem" class="jxs-fact">
      <Labelled label={count === 1 ? "collective" : "collectives"}>
        {count}{" "}
        {!asked && (
          <button type="button" class="jxs-link" title={CHECK} onClick={ask}>
            check for resharding
          </button>
        )}
      </Labelled>{" "}
      {asked && <Ask session={session} />}
    </div>
  );
}

/** In the head of a call that runs on several devices: whether values are laid anew, and the way to the lines. */
export function Warnings({ session }: { session: Session }) {
  useKernelState(session);
  useShared(session, (s) => s.call);
  if (!session.summary?.views.includes("collectives")) return null;
  return <Resharding session={session} key={session.call} />;
}

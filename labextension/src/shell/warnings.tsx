import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Warned } from "../model/lane";
import type { Reply } from "../wire/source";
import { Asking } from "../parts/waiting";
import { useKept, useKeptState, useQuestion, useSelected, useSelection } from "../parts/hooks";
import type { Selection } from "../model/selection";
import type { Kept } from "../model/kept";

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
export function nextWarning(selection: Selection, kept: Kept): void {
  const placed = selection.get().warned?.placed ?? [];
  const key = `warning of ${selection.call}`;
  const before = kept.recall(key);
  const at = typeof before === "number" ? (before + 1) % placed.length : 0;
  const [place] = placed[at]?.places ?? [];
  if (!place) return selection.say("No warnings, or not checked yet: see the header of the panel.");
  kept.keep(key, at);
  selection.show(place.doc, place.row);
  const said = placed[at]?.text.split("\n")[0] ?? "";
  return selection.say(`${at + 1} of ${placed.length}: ${said.length > MOST_SAID ? `${said.slice(0, MOST_SAID)}…` : said}`);
}

function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <>
      <span class="jxs-label">{label}</span>
      <span class="jxs-value jxs-tabular">{children}</span>
    </>
  );
}

function Found({ warned }: { warned: Warned }) {
  const selection = useSelection();
  const kept = useKept();
  if (!warned.total) return <Labelled label="resharding">none</Labelled>;
  return (
    <button
      type="button"
      class={warned.isGrave ? "jxs-warned jxs-warned-grave" : "jxs-warned"}
      title="Go to the next line (w)"
      onClick={() => nextWarning(selection, kept)}
    >
      {warned.isGrave ? "⚠ " : "⇄ "}
      {warned.summary}
    </button>
  );
}

function Ask() {
  const selection = useSelection();
  const question = useQuestion("warnings", {}, Warned.read);
  useLayoutEffect(() => selection.set({ warned: question.value }), [question.value]);
  if (question.value) return <Found warned={question.value} />;
  return (
    <Labelled label="resharding">
      <Asking question={question} />
    </Labelled>
  );
}

/** Asks by itself once that costs nothing: another look has had the program compiled as far as the partitioner. */
function useAsked(known: boolean): [boolean, () => void] {
  const selection = useSelection();
  const [asked, set] = useKeptState(`warnings asked ${selection.call}`, false);
  const view = useSelected((s) => s.view);
  const lane = useSelected((s) => (s.measure === "sharding" ? s.lane : null));
  const [visited, visit] = useState(false);
  const ask = () => set(true);
  useEffect(() => {
    if (ASKING.includes(view)) visit(true);
    else if (visited || known || lane) ask();
  }, [view, known, lane]);
  return [asked, ask];
}

function Resharding() {
  const question = useQuestion("exchanges", {}, readExchanges);
  const [asked, ask] = useAsked(question.value?.known ?? false);
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
      {asked && <Ask />}
    </div>
  );
}

/** In the head of a call that runs on several devices: whether values are laid anew, and the way to the lines. */
export function Warnings() {
  const selection = useSelection();
  if (!selection.summary?.views.includes("collectives")) return null;
  return <Resharding key={selection.call} />;
}

import type { Session } from "../../model/session";
import { DetailStrip } from "../../parts/detailStrip";
import { LinkedTable } from "../../parts/linkedTable";
import { useQuestion } from "../../parts/useQuestion";
import { Waiting } from "../../parts/waiting";
import { texts } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { readTable } from "../../wire/tables";

const WIDTHS = { operation: 108, what: 200, effect: 100, runs: 44, "not with": 300, line: 84 };
export const read = (reply: Reply) => readTable(reply, WIDTHS);

/** What the program does beside computing its results. */
export default function EffectsView({ session }: { session: Session }) {
  const question = useQuestion(session, "effects", {}, read);
  const table = question.value;
  if (!table) return <Waiting question={question} what="Reading the effects" />;
  return (
    <div class="jxs-column jxs-grow">
      <p class="jxs-headline">{texts(table.result.notes).join(" ")}</p>
      <LinkedTable session={session} table={table} label="effects" doc="jaxpr" from="effects" />
      <DetailStrip session={session} />
    </div>
  );
}

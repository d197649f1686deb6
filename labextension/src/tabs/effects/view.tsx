import type { Session } from "../../model/session";
import { DetailStrip } from "../../parts/detailStrip";
import { LinkedTable } from "../../parts/linkedTable";
import { useQuestion } from "../../parts/useQuestion";
import { Waiting } from "../../parts/waiting";
import { texts } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { type TableReply, readTable } from "../../wire/tables";

const WIDTHS = { operation: 110, what: 180, effect: 100, runs: 64, "not with": 200, line: 90 };

export async function read(reply: Reply): Promise<TableReply> {
  const table = await readTable(reply, WIDTHS);
  const all = table.grid.fields.map((field) => (field.name === "not with" && field.kind === "text" ? { ...field, wraps: true } : field));
  return { ...table, grid: { ...table.grid, fields: all } };
}

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

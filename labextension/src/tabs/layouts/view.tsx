import { DetailStrip } from "../../parts/detailStrip";
import { LinkedTable } from "../../parts/linkedTable";
import { GridView } from "../../parts/grid/gridView";
import { Said } from "../../parts/said";
import { Waiting } from "../../parts/waiting";
import { texts } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { readTable } from "../../wire/tables";
import { useQuestion } from "../../parts/hooks";

/** What each keeps at 900 px: values are told apart by the ends of their paths. */
const VALUES = { value: 340, kind: 66, type: 90, layout: 80, "in words": 100, memory: 56, "chosen by": 56 };
const COPIES = { instruction: 112, type: 112, changes: 124, "from layout": 150, "to layout": 180, bytes: 76, line: 90 };
export const readValues = (reply: Reply) => readTable(reply, VALUES);
export const readCopies = (reply: Reply) => readTable(reply, COPIES);

function Copies() {
  const question = useQuestion("layout_copies", {}, readCopies);
  const table = question.value;
  if (!table) return <Waiting question={question} what="Finding the copies" />;
  const notes = texts(table.result.notes).join(" ");
  return (
    <>
      {notes && (
        <p class="jxs-note">
          <Said text={notes} />
        </p>
      )}
      {table.grid.length > 0 && (
        <LinkedTable table={table} label="copies that change a layout" doc="hlo" from="layouts" />
      )}
    </>
  );
}

/** How arguments and results lie in memory, and the copies that change that. */
export default function LayoutsView() {
  const question = useQuestion("layouts", {}, readValues);
  if (!question.value) return <Waiting question={question} what="Reading the layouts" />;
  return (
    <div class="jxs-column jxs-grow">
      <h4 class="jxs-headline">Copies that change a layout</h4>
      <Copies />
      <h4 class="jxs-headline">Arguments and results</h4>
      <GridView grid={question.value.grid} label="layouts of arguments and results" />
      <DetailStrip />
    </div>
  );
}

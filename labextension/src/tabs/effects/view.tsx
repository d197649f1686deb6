import { DetailStrip } from "../../parts/detailStrip";
import { LinkedTable } from "../../parts/linkedTable";
import { Said } from "../../parts/said";
import { Waiting } from "../../parts/waiting";
import { texts } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { readTable } from "../../wire/tables";
import { useQuestion } from "../../parts/hooks";

const WIDTHS = { operation: 108, what: 200, effect: 100, runs: 44, "not with": 300, line: 84 };
export const read = (reply: Reply) => readTable(reply, WIDTHS);

/** What the program does beside computing its results. */
export default function EffectsView() {
  const question = useQuestion("effects", {}, read);
  const table = question.value;
  if (!table) return <Waiting question={question} what="Reading the effects" />;
  return (
    <div class="jxs-column jxs-grow">
      <p class="jxs-headline">
        <Said text={texts(table.result.notes).join(" ")} />
      </p>
      <LinkedTable table={table} label="effects" doc="jaxpr" from="effects" />
      <DetailStrip />
    </div>
  );
}

import { useDoc, useDocuments, useSelection } from "../../parts/hooks";
import { rowOfLine } from "../../model/sourceLines";
import { counted, scaled } from "../../wire/figures";
import { type CollectiveOfLayout, seconds as timeText } from "./read";

function Row({ one, onLine }: { one: CollectiveOfLayout; onLine: (line: string) => void }) {
  const { kind, over, count, bytes, seconds, line, isGradient } = one;
  return (
    <tr>
      <th scope="row">
        {kind ? `${count > 1 ? `${counted(count)} ` : ""}${isGradient ? "gradient " : ""}${kind}` : "all others"}
        {over && <span class="jxs-dim"> over {over}</span>}
      </th>
      <td>{scaled(bytes, "B")}</td>
      <td>{timeText(seconds)}</td>
      <td>
        {line ? (
          <button type="button" class="jxs-link" onClick={() => onLine(line)}>
            {line}
          </button>
        ) : (
          <span class="jxs-dim">{kind ? "line unknown" : ""}</span>
        )}
      </td>
    </tr>
  );
}

/** What the layout exchanges in one call by the estimate, the longest first. */
export function CollectivesOfLayout({ collectives }: { collectives: CollectiveOfLayout[] }) {
  const documents = useDocuments();
  const selection = useSelection();
  useDoc(documents.doc("python"));
  if (!collectives.length) return <p class="jxs-dim">By the estimate it takes no collectives.</p>;
  const goTo = (line: string) => {
    const row = rowOfLine(documents, line);
    if (row >= 0) selection.show("python", row);
    else selection.say("This line is not among the sources of this call.");
  };
  return (
    <table class="jxs-ss-times jxs-ss-collectives" aria-label="the collectives of one call">
      <thead>
        <tr>
          {["collectives of one call", "per device", "at least", "line"].map((title) => (
            <th scope="col" key={title}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {collectives.map((one, at) => (
          <Row one={one} onLine={goTo} key={at} />
        ))}
      </tbody>
    </table>
  );
}

import { useState } from "preact/hooks";
import { counted } from "../wire/figures";
import type { CompiledDifference, DocumentDifference } from "./readDifference";

function Lines({ of }: { of: DocumentDifference }) {
  return (
    <div class="jxs-differing-lines" tabIndex={0} role="region" aria-label={`${of.title}: ${of.summary}`}>
      {of.lines.map(({ what, mark, text }, i) => (
        <div class="jxs-differing-line" data-what={what} key={i}>
          <span>{mark}</span>
          <code>{text}</code>
        </div>
      ))}
      {of.leftOut > 0 && <p class="jxs-note">{counted(of.leftOut)} more lines are not shown.</p>}
    </div>
  );
}

/** Buttons for the stages of two programs, and the lines in which the chosen one differs. */
export function DifferingDocuments({ documents, unknown }: CompiledDifference) {
  const differing = documents.find(({ lines }) => lines.length) ?? documents[0];
  const [kind, setKind] = useState(differing?.kind ?? "");
  const shown = documents.find((one) => one.kind === kind);
  return (
    <>
      <div class="jxs-strip jxs-differing-kinds">
        <span class="jxs-group" role="group" aria-label="what is compared">
          {documents.map((one) => (
            <button type="button" class="jxs-toggle" key={one.kind} data-kind={one.kind} aria-pressed={one.kind === kind} onClick={() => setKind(one.kind)}>
              {one.title}: {one.summary}
            </button>
          ))}
        </span>
        {unknown.map(({ title, reason }) => (
          <span class="jxs-dim jxs-anywhere" key={title}>
            {title}: {reason}
          </span>
        ))}
      </div>
      {shown && <Lines of={shown} />}
    </>
  );
}

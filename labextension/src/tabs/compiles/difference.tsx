import { useState } from "preact/hooks";
import type { Session } from "../../model/session";
import { useQuestion } from "../../parts/useQuestion";
import { Waiting } from "../../parts/waiting";
import { counted } from "../../wire/figures";
import { type CompiledDifference, type DocumentDifference, readDifference } from "./readDifference";

interface Props {
  session: Session;
  number: number;
  other: number;
  onClose: () => void;
}

function Lines({ of }: { of: DocumentDifference }) {
  return (
    <div class="jxs-co-lines" tabIndex={0} role="region" aria-label={`${of.title}: ${of.summary}`}>
      {of.lines.map(({ what, mark, text }, i) => (
        <div class="jxs-co-line" data-what={what} key={i}>
          <span>{mark}</span>
          <code>{text}</code>
        </div>
      ))}
      {of.leftOut > 0 && <p class="jxs-note">{counted(of.leftOut)} more lines are not shown.</p>}
    </div>
  );
}

function Documents({ documents, unknown }: CompiledDifference) {
  const differing = documents.find(({ lines }) => lines.length) ?? documents[0];
  const [kind, setKind] = useState(differing?.kind ?? "");
  const shown = documents.find((one) => one.kind === kind);
  return (
    <>
      <div class="jxs-strip jxs-co-kinds">
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

/** In place of the list: the lines in which two programs differ, as they were compiled. */
export function Difference({ session, number, other, onClose }: Props) {
  const question = useQuestion(session, "compile_compare", { number, other }, readDifference);
  return (
    <div class="jxs-co-list jxs-column jxs-co-compared">
      <div class="jxs-strip jxs-co-kinds">
        <b>
          #{other} → #{number}
        </b>
        <button type="button" class="jxs-button jxs-boxed" onClick={onClose}>
          Back to the list
        </button>
      </div>
      {question.value ? <Documents {...question.value} /> : <Waiting question={question} what="Comparing" />}
    </div>
  );
}

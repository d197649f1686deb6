import { useState } from "preact/hooks";
import { messageOf } from "../../wire/errors";
import { count } from "../../wire/check";
import type { CompileAbout } from "./readRecord";
import type { Selection } from "../../model/selection";
import type { Questions } from "../../model/question";
import { useQuestions, useSelection } from "../../parts/hooks";

interface Props {
  about: CompileAbout;
  onCompare: (other: number) => void;
}

/** Opens a record as a further call of the panel; nothing is compiled. */
export async function openRecord(selection: Selection, questions: Questions, number: number): Promise<void> {
  const { result } = await questions.ask("compile_open", { number });
  selection.pickCall(count(result.call));
}

interface ButtonProps {
  text: string;
  title: string;
  /** Why it does nothing; "" where it does. */
  refused: string;
  onClick: () => void;
}

function Button({ text, title, refused, onClick }: ButtonProps) {
  return (
    <button type="button" class="jxs-button jxs-boxed" title={refused || title} disabled={refused !== ""} onClick={onClick}>
      {text}
    </button>
  );
}

/** Opens the record, or shows how it differs from the one that it was compared with; where neither can be, why. */
export function OpenButtons({ about: { number, nearest, notOpened }, onCompare }: Props) {
  const selection = useSelection();
  const questions = useQuestions();
  const [problem, setProblem] = useState("");
  const open = () => {
    setProblem("");
    openRecord(selection, questions, number).catch((error: unknown) => setProblem(messageOf(error)));
  };
  const refused = notOpened || (nearest?.notOpened ?? "");
  return (
    <div class="jxs-co-open jxs-strip">
      <Button text="Open" title="Show its code, cost and memory; nothing is compiled" refused={notOpened} onClick={open} />
      {nearest && (
        <Button
          text={`Compare with #${nearest.number}`}
          title={`Show how its program differs from that of #${nearest.number}`}
          refused={refused}
          onClick={() => onCompare(nearest.number)}
        />
      )}
      <span role="status" class="jxs-anywhere">
        {problem || (refused && <span class="jxs-dim">{refused}</span>)}
      </span>
    </div>
  );
}

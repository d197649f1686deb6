import { DifferingDocuments } from "../../parts/differingDocuments";
import { readDifference } from "../../parts/readDifference";
import { Waiting } from "../../parts/waiting";
import { useQuestion } from "../../parts/hooks";

interface Props {
  number: number;
  other: number;
  onClose: () => void;
}

/** In place of the list: the lines in which two programs differ, as they were compiled. */
export function Difference({ number, other, onClose }: Props) {
  const question = useQuestion("compile_compare", { number, other }, readDifference);
  return (
    <div class="jxs-co-list jxs-column jxs-co-compared">
      <div class="jxs-strip jxs-differing-kinds">
        <b>
          #{other} → #{number}
        </b>
        <button type="button" class="jxs-button jxs-boxed" onClick={onClose}>
          Back to the list
        </button>
      </div>
      {question.value ? <DifferingDocuments {...question.value} /> : <Waiting question={question} what="Comparing" />}
    </div>
  );
}

import { useState } from "preact/hooks";
import type { Session } from "../../model/session";
import { messageOf } from "../../wire/errors";
import { count } from "../../wire/check";

interface Props {
  session: Session;
  number: number;
  /** The number of the record that it was compared with, null for none. */
  other: number | null;
  onCompare: (other: number) => void;
}

/** Opens the record as a further call of this panel, or shows how it differs from another. Nothing is compiled. */
export function OpenButtons({ session, number, other, onCompare }: Props) {
  const [problem, setProblem] = useState("");
  const open = async () => {
    setProblem("");
    try {
      const { result } = await session.ask("compile_open", { call: session.call, number });
      session.pickCall(count(result.call));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <div class="jxs-co-open jxs-strip">
      <button type="button" class="jxs-button jxs-boxed" title="Show its code, cost and memory; nothing is compiled" onClick={() => void open()}>
        Open
      </button>
      {other !== null && (
        <button
          type="button"
          class="jxs-button jxs-boxed"
          title={`Show how its program differs from that of #${other}`}
          onClick={() => onCompare(other)}
        >
          Compare with #{other}
        </button>
      )}
      <span role="status" class="jxs-anywhere">
        {problem}
      </span>
    </div>
  );
}

import { useState } from "preact/hooks";
import type { Session } from "../../model/session";
import { messageOf } from "../../wire/errors";
import { count } from "../../wire/check";
import type { CompileAbout } from "./readRecord";

interface Props {
  session: Session;
  about: CompileAbout;
  onCompare: (other: number) => void;
}

/** Opens a record as a further call of the panel; nothing is compiled. */
export async function openRecord(session: Session, number: number): Promise<void> {
  const { result } = await session.ask("compile_open", { call: session.call, number });
  session.pickCall(count(result.call));
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
export function OpenButtons({ session, about: { number, nearest, notOpened }, onCompare }: Props) {
  const [problem, setProblem] = useState("");
  const open = () => {
    setProblem("");
    openRecord(session, number).catch((error: unknown) => setProblem(messageOf(error)));
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

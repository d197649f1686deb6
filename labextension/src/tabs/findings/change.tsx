import { copy } from "../../model/actions";
import { IconButton } from "../../parts/icons";
import { useSelection } from "../../parts/hooks";
import type { Finding } from "./read";

type Kind = "head" | "added" | "removed" | "";

/** What a line of a diff, as `diff -u` writes it, is. */
export function kindOf(line: string): Kind {
  if (/^(?:---|\+\+\+|@@)/.test(line)) return "head";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}

function Line({ line, isDiff }: { line: string; isDiff: boolean }) {
  const kind = isDiff ? kindOf(line) : "";
  const Tag = kind === "added" ? "ins" : kind === "removed" ? "del" : "span";
  return <Tag class={`jxs-change-line${kind && ` jxs-change-${kind}`}`}>{`${line}\n`}</Tag>;
}

/** What to write: a diff of the user's source, or lines. */
export function Change({ change }: { change: NonNullable<Finding["change"]> }) {
  const selection = useSelection();
  const { code, isDiff } = change;
  return (
    <div class="jxs-change">
      <pre tabIndex={0} aria-label="the change">
        {code.split("\n").map((line, at) => (
          <Line line={line} isDiff={isDiff} key={at} />
        ))}
      </pre>
      <IconButton icon="copy" label="Copy the change" onClick={() => void copy(selection, "the change", Promise.resolve(code))} />
    </div>
  );
}

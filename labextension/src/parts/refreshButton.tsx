import { useState } from "preact/hooks";
import { count } from "../wire/check";
import { messageOf } from "../wire/errors";
import { counted } from "../wire/figures";
import { useQuestions, useSelection } from "./hooks";

interface Props {
  /** Asks the kernel to look again; it answers with how many are new. */
  method: string;
  title: string;
  /** What is listed: one, several; and what is said where none is new. */
  nouns: [one: string, several: string];
  none: string;
  /** What the button says meanwhile. */
  meanwhile?: string;
  onRefreshed: () => void;
}

/** Has a list read anew, and says how many of it are new. */
export function RefreshButton({ method, title, nouns, none, meanwhile = "Refresh", onRefreshed }: Props) {
  const selection = useSelection();
  const questions = useQuestions();
  const [busy, setBusy] = useState(false);
  const refresh = async () => {
    setBusy(true);
    try {
      const many = count((await questions.ask(method)).result.new);
      selection.say(many ? `${counted(many)} new ${nouns[many === 1 ? 0 : 1]}.` : none);
      onRefreshed();
    } catch (error) {
      selection.say(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <button type="button" class="jxs-button jxs-boxed" disabled={busy} title={title} onClick={() => void refresh()}>
      {busy ? meanwhile : "Refresh"}
    </button>
  );
}

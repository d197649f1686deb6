import { useState } from "preact/hooks";
import { count } from "../../wire/check";
import { messageOf } from "../../wire/errors";
import { counted } from "../../wire/figures";
import { useQuestions, useSelection } from "../../parts/hooks";

/** Reads the folder anew. */
export function RefreshCache({ onRefreshed }: { onRefreshed: () => void }) {
  const selection = useSelection();
  const questions = useQuestions();
  const [busy, setBusy] = useState(false);
  const refresh = async () => {
    setBusy(true);
    try {
      const { result } = await questions.ask("compile_cache_refresh", { call: selection.call });
      const many = count(result.new);
      selection.say(many ? `${counted(many)} new ${many === 1 ? "entry" : "entries"}.` : "No new entries.");
      onRefreshed();
    } catch (error) {
      selection.say(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <button type="button" class="jxs-button jxs-boxed" disabled={busy} title="Read the cache again" onClick={() => void refresh()}>
      Refresh
    </button>
  );
}

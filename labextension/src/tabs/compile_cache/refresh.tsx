import { useState } from "preact/hooks";
import type { Session } from "../../model/session";
import { count } from "../../wire/check";
import { messageOf } from "../../wire/errors";
import { counted } from "../../wire/figures";

/** Reads the folder anew. */
export function RefreshCache({ session, onRefreshed }: { session: Session; onRefreshed: () => void }) {
  const [busy, setBusy] = useState(false);
  const refresh = async () => {
    setBusy(true);
    try {
      const { result } = await session.ask("compile_cache_refresh", { call: session.call });
      const many = count(result.new);
      session.say(many ? `${counted(many)} new ${many === 1 ? "entry" : "entries"}.` : "No new entries.");
      onRefreshed();
    } catch (error) {
      session.say(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <button type="button" class="jxs-button jxs-boxed" disabled={busy} title="Read the cache again" onClick={() => void refresh()}>
      Refresh
    </button>
  );
}

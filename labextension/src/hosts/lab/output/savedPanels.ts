/** The sessions of saved reports, one for all outputs of a notebook that show the same report; forgotten with the last of them. */

import type { Session } from "../../../model/session";
import { mostUnpacked, readReports } from "../../../wire/payload";
import type { Payload } from "../../../wire/payload";
import type { PanelCode } from "../panelCode";

const users = new Map<string, number>();
const numbers = new WeakMap<object, number>();
let homes = 0;

/** A notebook and its copy hold the same report; what is selected in one of them is not selected in the other. */
function numberOf(home: object | null): number {
  if (!home) return 0;
  const number = numbers.get(home) ?? ++homes;
  numbers.set(home, number);
  return number;
}

const keyOf = ({ model, reports }: Payload, home: object | null): string => `saved ${numberOf(home)} ${model ?? ""} ${reports}`;

export interface SavedSession {
  session: Session;
  release(): void;
}

/** `home` stands for the notebook. Rejects with a Refusal, whose message says why the report cannot be shown. */
export async function openSaved(payload: Payload, { SESSIONS, SavedSource }: PanelCode, home: object | null): Promise<SavedSession> {
  const key = keyOf(payload, home);
  const reports = await readReports(payload.reports);
  const session = SESSIONS.ofReport(key, () => new SavedSource(reports, mostUnpacked(payload.reports)), payload.model ?? "");
  users.set(key, (users.get(key) ?? 0) + 1);
  let released = false;
  const release = () => {
    if (released) return;
    released = true;
    const left = (users.get(key) ?? 1) - 1;
    if (left) return void users.set(key, left);
    users.delete(key);
    SESSIONS.forget(key);
  };
  return { session, release };
}

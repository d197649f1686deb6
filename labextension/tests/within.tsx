import type { ComponentChild } from "preact";
import type { Session } from "../src/model/session";
import { SessionContext } from "../src/parts/hooks";

/** A view as it is drawn in a session's panel. */
export const within = (session: Session, view: ComponentChild) => <SessionContext.Provider value={session}>{view}</SessionContext.Provider>;

/** Finds the session of a widget's model or of a saved report: the same one for every view of it, whichever host draws it. */

import { text } from "../wire/check";
import { KernelSource } from "../wire/kernelSource";
import type { Model, Source } from "../wire/source";
import { Session } from "./session";

export class Sessions {
  private known = new Map<string | object, Session>();

  /** The session of what `key` stands for, opened when it is first asked for. */
  private find(key: string | object, open: () => Session): Session {
    const session = this.known.get(key) ?? open();
    this.known.set(key, session);
    return session;
  }

  ofModel(model: Model): Session {
    return this.find(model, () => new Session(new KernelSource(model), text(model.get("panel_id"))));
  }

  /** Of a saved report or an offline page, which `open` reads: not every host can, and it is read once; `panel` is the live one that it was saved of. */
  ofReport(id: string, open: () => Source, panel = ""): Session {
    return this.find(id, () => new Session(open(), panel));
  }

  forget(key: string | object): void {
    this.known.delete(key);
  }
}

/** Those of this page. */
export const SESSIONS = new Sessions();

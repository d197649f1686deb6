/** What a view asks the kernel for, however long that takes. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../session";
import type { Params, Reply } from "../source";
import { useKernelState, useShared } from "./hooks";

/** Something that was asked for: there, on its way, stopped by the user, or refused. */
interface State<T> {
  state: "waiting" | "done" | "stopped" | "failed";
  value: T | null;
  /** Date.now() at which the kernel began. */
  since: number;
  /** What the kernel is at, in its own words. */
  progress: string | null;
  problem: string;
}

export interface Look<T> extends State<T> {
  session: Session;
  stop(): void;
  again(): void;
}

function begun<T>(kept: unknown): State<T> {
  const value = (kept ?? null) as T | null;
  return { value, state: value === null ? "waiting" : "done", since: Date.now(), progress: null, problem: "" };
}

/**
 * Asks for `method` of the shown call and reads the reply with `read`, which throws where it is not as it must be.
 * Asks once: a view drawn again finds what it had. Waits as long as the kernel computes, while the view is there.
 */
export function useLook<T>(
  session: Session,
  method: string,
  params: Params,
  read: (reply: Reply) => T | Promise<T>,
): Look<T> {
  useKernelState(session);
  useShared(session, (s) => s.call);
  const asked = { ...params, call: session.call };
  const key = JSON.stringify([method, asked, session.summary?.documents]);
  const [turn, setTurn] = useState(0);
  const [held, hold] = useState({ key: "", now: begun<T>(null) });
  const gone = useRef(new AbortController());
  const change = (more: Partial<State<T>>) =>
    hold((was) => (was.key === key ? { key, now: { ...was.now, ...more } } : was));
  useEffect(() => {
    const now = begun<T>(session.recall(key));
    hold({ key, now });
    if (now.state === "done") return undefined;
    const { signal } = (gone.current = new AbortController());
    session
      .ask(method, asked, (p) => change({ since: Date.now() - p.elapsed * 1000, progress: p.text }), signal)
      .then(read)
      .then((value) => {
        session.keep(key, value);
        change({ value, state: "done" });
      })
      .catch((error: unknown) => {
        if (!signal.aborted) change({ state: "failed", problem: error instanceof Error ? error.message : String(error) });
      });
    return () => gone.current.abort();
  }, [key, turn]);
  return {
    ...(held.key === key ? held.now : begun<T>(session.recall(key))),
    session,
    stop: () => {
      gone.current.abort();
      change({ state: "stopped" });
      session.stop(method, asked).catch(() => undefined);
    },
    again: () => setTurn(turn + 1),
  };
}

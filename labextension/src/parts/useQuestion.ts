/** What a view asks the kernel for, however long that takes. */

import { useEffect, useReducer } from "preact/hooks";
import type { Answer } from "../model/question";
import type { Session } from "../model/session";
import type { Params, Reply } from "../wire/source";
import { useKernelState, useShared } from "./hooks";

export interface QuestionState<T> extends Answer<T> {
  session: Session;
  stop(): void;
  askAgain(): void;
}

/**
 * Asks for `method` of the shown call and reads the reply with `read`, which throws where it is not as it must be.
 * Asks once: a view drawn again finds what it had. Waits as long as the kernel computes, while the view is there.
 */
export function useQuestion<T>(
  session: Session,
  method: string,
  params: Params,
  read: (reply: Reply) => T | Promise<T>,
): QuestionState<T> {
  useKernelState(session);
  useShared(session, (s) => s.call);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const asked = session.asked(method, params, read);
  const drawn = asked.now;
  useEffect(() => {
    const leave = asked.use(() => redraw(undefined as never));
    if (asked.now !== drawn) redraw(undefined as never); // changed since it was drawn
    return leave;
  }, [asked]);
  return { ...drawn, session, stop: () => asked.stop(), askAgain: () => asked.askAgain() };
}

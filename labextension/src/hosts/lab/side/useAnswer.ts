import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../../wire/errors";
import type { Params, Reply } from "../../../wire/source";

/** A question to the kernel; rejects with one line that can be shown as it is. */
export type Ask = (method: string, params: Params) => Promise<Reply>;

/** What a question to the kernel gives; its problem, or null while it waits. */
export function useAnswer<T>(ask: () => Promise<T>, inputs: unknown[]): { value: T | null; problem: string } {
  const [state, setState] = useState<{ value: T | null; problem: string }>({ value: null, problem: "" });
  useEffect(() => {
    let isCurrent = true;
    setState(({ value }) => ({ value, problem: "" }));
    ask()
      .then((value) => isCurrent && setState({ value, problem: "" }))
      .catch((error: unknown) => isCurrent && setState({ value: null, problem: messageOf(error) }));
    return () => {
      isCurrent = false;
    };
  }, inputs);
  return state;
}

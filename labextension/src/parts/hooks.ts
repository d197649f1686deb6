import { useEffect, useReducer, useState } from "preact/hooks";
import type { Doc } from "../model/document";
import type { Session } from "../model/session";
import type { Store } from "../model/store";
import type { Selection } from "../model/selection";

/** Renders again when the part of a store that `choose` picks has changed. */
export function useStore<S extends object, T>(store: Store<S>, choose: (state: S) => T): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const chosen = choose(store.get());
  useEffect(() => {
    if (choose(store.get()) !== chosen) redraw(undefined as never); // changed since it was drawn
    return store.subscribe((now, before) => choose(now) !== choose(before) && redraw(undefined as never));
  }, [store]);
  return chosen;
}

/** Renders again when the part of the selection that `choose` picks has changed. */
export const useShared = <T>(session: Session, choose: (selection: Selection) => T): T => useStore(session.store, choose);

export function useKernelState(session: Session): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const { notices } = session;
  useEffect(() => {
    if (session.notices !== notices) redraw(undefined as never); // told since it was drawn
    return session.onState(() => redraw(undefined as never));
  }, [session]);
}

export function useDoc(doc: Doc | null): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => doc?.onChange(() => redraw(undefined as never)), [doc]);
}

export function useWidth(element: HTMLElement): number {
  const [width, setWidth] = useState(element.clientWidth);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

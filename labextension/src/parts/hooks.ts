import { useEffect, useReducer, useState } from "preact/hooks";
import type { Doc } from "../model/document";
import type { Session } from "../model/session";
import type { Shared } from "../model/store";

/** Renders again when the part of the shared state that `choose` picks has changed. */
export function useShared<T>(session: Session, choose: (shared: Shared) => T): T {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const chosen = choose(session.store.get());
  useEffect(() => {
    if (choose(session.store.get()) !== chosen) again(undefined as never); // changed since it was drawn
    return session.store.subscribe((now, before) => choose(now) !== choose(before) && again(undefined as never));
  }, [session]);
  return chosen;
}

export function useKernelState(session: Session): void {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const { told } = session;
  useEffect(() => {
    if (session.told !== told) again(undefined as never); // told since it was drawn
    return session.onState(() => again(undefined as never));
  }, [session]);
}

export function useDoc(doc: Doc | null): void {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => doc?.onChange(() => again(undefined as never)), [doc]);
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

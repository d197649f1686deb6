/** What a view takes of the session that it is drawn in, and when it renders again. */

import { createContext } from "preact";
import { useContext, useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Doc } from "../model/document";
import type { Panel } from "../model/panel";
import type { Answer } from "../model/question";
import type { Selected } from "../model/selection";
import type { Session } from "../model/session";
import type { Store } from "../model/observable";
import type { Params, Reply } from "../wire/source";
import { type Layout, newLayout } from "../model/layout";

export const LayoutContext = createContext<Store<Layout>>(newLayout());

/** The layout of the mount that a component is part of. */
export const useLayoutStore = (): Store<Layout> => useContext(LayoutContext);

/** Renders again when the part of the layout that `choose` picks has changed. */
export const useLayout = <T>(choose: (layout: Layout) => T): T => useStore(useLayoutStore(), choose);

/** The session that is drawn below. */
export const SessionContext = createContext<Session>(null as never);

export const useDocuments = () => useContext(SessionContext).documents;
export const useSelection = () => useContext(SessionContext).selection;
export const useQuestions = () => useContext(SessionContext).questions;
export const useKept = () => useContext(SessionContext).kept;

type Listen = (changed: () => void) => () => void;

/** What `read` gives, which renders again when `source` has changed it; `listen` tells how it is heard. */
function useLive<T>(source: { onChange: Listen } | null, read: () => T, listen: (changed: () => void) => (() => void) | undefined = (changed) => source?.onChange(changed)): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const now = { read, value: read() };
  const drawn = useRef(now);
  drawn.current = now;
  useEffect(() => {
    const check = () => {
      if (drawn.current.read() !== drawn.current.value) redraw(undefined as never);
    };
    const end = listen(check);
    check(); // changed since it was drawn
    return end;
  }, [source]);
  return now.value;
}

export const useStore = <S extends object, T>(store: Store<S>, choose: (state: S) => T): T => useLive(store, () => choose(store.get()));

export const useSelected = <T>(choose: (selected: Selected) => T): T => useStore(useSelection(), choose);

/** Renders again with each state that the kernel pushes. */
export function usePanel(): Panel {
  const { panel } = useContext(SessionContext);
  useLive(panel, () => panel.changes);
  return panel;
}

export const useDoc = (doc: Doc | null) => useLive(doc, () => doc?.changes);

/**
 * Asks for `method` of the shown call and reads the reply with `read`, which throws where it is not as it must be.
 * Asks once: a view drawn again finds what it had. Waits as long as the kernel computes, while the view is there.
 */
export function useQuestion<T>(method: string, params: Params, read: (reply: Reply) => T | Promise<T>): Answer<T> {
  const question = useQuestions().asked(method, params, read);
  return useLive(question, () => question.now, (changed) => question.use(changed));
}

/** As `useState`, for a view that is drawn anew. */
export function useKeptState<T>(key: string, usual: T): [T, (value: T) => void] {
  const kept = useKept();
  const [value, set] = useState((kept.recall(key) as T | undefined) ?? usual);
  const keep = (to: T) => {
    kept.keep(key, to);
    set(() => to);
  };
  return [value, keep];
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

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Layout, newLayout } from "../model/layout";
import type { Store } from "../model/store";
import { useStore } from "./hooks";

export const LayoutContext = createContext<Store<Layout>>(newLayout());

/** The layout of the mount that a component is part of. */
export const useLayoutStore = (): Store<Layout> => useContext(LayoutContext);

/** Renders again when the part of the layout that `choose` picks has changed. */
export const useLayout = <T>(choose: (layout: Layout) => T): T => useStore(useLayoutStore(), choose);

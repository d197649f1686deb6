/** How one mount of a panel is laid out. Another mount of the same session, of another size, has its own. */

import { Store } from "./observable";

export interface Layout {
  /** Open panes, left to right; null until the user chooses: then by width and by what there is. */
  panes: string[] | null;
  /** Share of the width of each open pane, by kind. */
  widths: Record<string, number>;
  /** Of the panes or the tab, in pixels; null for as high as what they show. */
  height: number | null;
  /** Fills the window. */
  large: boolean;
  /** Whether the call stack of the selected line is open, and the help. */
  stack: boolean;
  help: boolean;
}

const START: Layout = { panes: null, widths: {}, height: null, large: false, stack: false, help: false };

/** What the user has set for panels that are drawn from now on. */
export const newPanels: Pick<Layout, "panes"> = { panes: null };

export const newLayout = (given: Partial<Layout> = {}): Store<Layout> => new Store({ ...START, ...newPanels, ...given });

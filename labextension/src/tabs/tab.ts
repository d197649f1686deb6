import type { JSX } from "preact";

export interface TabProps {
  /** Of the panel, in pixels. */
  width: number;
  /** Switches full screen on and off; null where the bar of tabs has a button for it. */
  onFull: (() => void) | null;
}

export type View = (props: TabProps) => JSX.Element;

/** What the index of a tab's folder says of it. A call has the tabs that its summary names. */
export interface Tab {
  /** On the tab itself. */
  title: string;
  /** What it shows, in half a sentence. */
  hint: string;
  /** Fills the height that the panel gives it; others are as high as what they show, up to that. */
  tall?: boolean;
  /** Brings its own frame and heights. */
  bare?: boolean;
  /** Its view, where it is part of the panel's script. Without it, `./view` is loaded when the tab is first opened. */
  component?: View;
}

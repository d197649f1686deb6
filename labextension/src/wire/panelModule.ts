/** The module that draws panels, once a page and version, wherever it comes from. */

import type { Model } from "./source";

/** What anywidget expects of a widget. */
export interface PanelWidget {
  initialize(given: { model: Model }): () => void;
  render(given: { model: Model; el: HTMLElement }): () => void;
}

export interface PanelModule {
  /** One for each model. */
  widget(): PanelWidget;
}

/** A kernel sends the style sheet beside the script. */
export interface SentPanel extends PanelModule {
  addStyle(name: string, style: string): void;
}

/** What the JupyterLab extension offers: its own build of the module. */
export interface OfferedPanel {
  (): Promise<PanelModule>;
  /** Of the sources that it was built from: data of another version may not be what it reads. */
  version: string;
}

const OFFERED = Symbol.for("jaxstage.panel");
const FROM_KERNEL = Symbol.for("jaxstage.panel.fromKernel");

interface Page {
  [OFFERED]?: OfferedPanel;
  [FROM_KERNEL]?: Map<string, Promise<PanelModule>>;
}

const page = globalThis as Page;

export function offer(panel: OfferedPanel | undefined): void {
  page[OFFERED] = panel;
}

export const offered = (): OfferedPanel | undefined => page[OFFERED];

/** Modules that kernels have sent, by version. */
export const fromKernel = (): Map<string, Promise<PanelModule>> => (page[FROM_KERNEL] ??= new Map());

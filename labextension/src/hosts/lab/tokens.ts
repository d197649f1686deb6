/** What the plugins of the JupyterLab extension offer each other. */

import type { IDisposable } from "@lumino/disposable";
import { Token } from "@lumino/coreutils";
import type { NotebookPanel } from "@jupyterlab/notebook";
import type { Params, Reply } from "../../wire/source";
import type { StageName } from "./inspect/cellCode";

/** A connection to the JAXStage in one kernel, over a comm of its own; it outlives no kernel. */
export interface KernelLink extends IDisposable {
  /** Rejects with a one-line Error that can be shown as it is. */
  request(method: string, params: Params): Promise<Reply>;
  /** Calls the listener whenever the kernel says that its list of inspections has changed. */
  onChange(listener: () => void): IDisposable;
}

export interface IKernelLinks {
  /**
   * The link to a notebook's kernel; null where JAXStage is not loaded there. With `load` it is loaded first, by
   * `%load_ext jaxstage_ext`.
   */
  of(notebook: NotebookPanel, load?: boolean): Promise<KernelLink | null>;
}

export const IKernelLinks = new Token<IKernelLinks>(
  "jaxstage:IKernelLinks",
  "Connections to the JAXStage in the kernels of open notebooks.",
);

/** One inspection in a kernel: its number there, and when it was made, in seconds since 1970. */
interface InspectionKey {
  id: string;
  made: number;
}

/**
 * Tabs beside a notebook. In them `root.closest("[data-jaxstage-notebook]")` of a mounted panel is an element whose
 * `dataset.jaxstageNotebook` is the id of the notebook's widget (`NotebookPanel.id`), as the root stands in no notebook.
 */
export interface IInspectionTabs {
  /** Shows the live panel of an inspection in a tab. Rejects with a one-line Error that can be shown as it is. */
  open(notebook: NotebookPanel, inspection: InspectionKey): Promise<void>;
  /** Shows the figures of two inspections side by side, the older one first. Rejects as `open`. */
  compare(notebook: NotebookPanel, before: InspectionKey, after: InspectionKey): Promise<void>;
}

export const IInspectionTabs = new Token<IInspectionTabs>("jaxstage:IInspectionTabs", "Tabs that show inspections beside their notebook.");

/** What the gutter of a cell shows beside its lines. */
export const COLOURS = ["lines", "bars", "none"] as const;
export const GUTTERS = ["off", "flops", "bytes", "memory", "time"] as const;

export interface Preferences {
  /** The stage of the cell's toolbar button. */
  stage: StageName;
  /** Where the notebook has used none yet: "" for the devices of the kernel. */
  target: string;
  options: string;
  /** Open in new panels; none for those that fit. */
  panes: string[];
  /** Whether cells are marked by what is hovered and selected in panels. */
  marks: boolean;
  /** Whether the caret in a cell selects its line in panels. */
  caret: boolean;
  gutter: (typeof GUTTERS)[number];
  /** What of a panel's lines has the colour of their source line. */
  colours: (typeof COLOURS)[number];
}

export interface IPreferences {
  get(): Preferences;
  /** Calls the listener after a setting has changed, and once they are read. */
  onChange(listener: () => void): IDisposable;
}

export const IPreferences = new Token<IPreferences>("jaxstage:IPreferences", "The settings of JAXStage.");

/** Inspecting the active code cell: a button in its toolbar, menus, the command palette, keys. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { Dialog, ICommandPalette, showDialog } from "@jupyterlab/apputils";
import { INotebookTracker } from "@jupyterlab/notebook";
import { caretDownIcon } from "@jupyterlab/ui-components";
import { type Choice, STAGES, type StageName, hasTarget, isStage } from "./cellCode";
import { jaxstageIcon } from "../icon";
import { Inspector, type Place, saying } from "./inspector";
import { IKernelLinks, IPreferences } from "../tokens";
import type { Kernel } from "@jupyterlab/services";
import { Widget } from "@lumino/widgets";
import type { ReadyKernel } from "../kernel/kernelReady";

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
  .jaxstage-choice { display: grid; gap: 12px; min-width: min(28rem, 80vw); padding: 2px; }
  .jaxstage-field { display: grid; gap: 4px; }
  .jaxstage-field[hidden] { display: none; }
  .jaxstage-field > span { font-weight: 600; }
  .jaxstage-field > small { color: var(--jp-ui-font-color2); font-size: var(--jp-ui-font-size0); }
  .jaxstage-field > input { font-family: var(--jp-code-font-family); }
`);

/** What the kernel would complete behind a magic's line, as Tab does. */
async function completions(kernel: Kernel.IKernelConnection, code: string): Promise<string[]> {
  const { content } = await kernel.requestComplete({ code, cursor_pos: code.length });
  return content.status === "ok" ? content.matches : [];
}

function element<K extends keyof HTMLElementTagNameMap>(name: K, members: Partial<HTMLElementTagNameMap[K]>, ...children: Node[]): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), members);
  made.append(...children);
  return made;
}

const labelled = (text: string, field: HTMLElement, ...hints: string[]): HTMLElement =>
  element("label", { className: "jaxstage-field" }, element("span", { textContent: text }), field, ...hints.map((hint) => element("small", { textContent: hint })));

const HINTS = {
  target: "For example v5e:2x2 or h100:8; separate several with spaces. Leave it empty for the devices of the kernel.",
  options: "As you would type them after the magic, for example --mesh data=4. %%compile? lists them all.",
};

class ChoiceBody extends Widget implements Dialog.IBodyWidget<Choice> {
  private stage = element("select", {}, ...STAGES.map((name) => element("option", { value: name, textContent: name })));
  private names = element("datalist", { id: "jaxstage-targets" });
  private target = element("input", { type: "text", className: "jp-mod-styled", spellcheck: false, placeholder: "local" });
  private options = element("input", { type: "text", className: "jp-mod-styled", spellcheck: false });
  private ofTarget = labelled("Target", this.target, HINTS.target);

  constructor(private last: Record<StageName, Choice>, stage: StageName, targets: Promise<string[]>) {
    super();
    this.stage.className = "jp-mod-styled";
    this.addClass("jaxstage-choice");
    this.node.append(labelled("Stage", this.stage), this.ofTarget, labelled("Options", this.options, HINTS.options), this.names);
    this.target.setAttribute("list", this.names.id);
    this.stage.addEventListener("change", () => this.fill(this.chosen));
    this.stage.value = stage;
    this.fill(stage);
    void targets.then((names) => this.names.append(...names.map((value) => element("option", { value }))), () => undefined);
  }

  private get chosen(): StageName {
    return isStage(this.stage.value) ? this.stage.value : "compile";
  }

  private fill(stage: StageName): void {
    this.target.value = this.last[stage].target;
    this.options.value = this.last[stage].options;
    this.ofTarget.hidden = !hasTarget(stage);
  }

  getValue(): Choice {
    return { stage: this.chosen, target: this.target.value, options: this.options.value };
  }
}

/** What the user chose; null where they cancelled. */
async function chooseStage(inspector: Inspector, { panel }: Place, ready: ReadyKernel): Promise<Choice | null> {
  const last = await Promise.all(STAGES.map(async (stage) => [stage, await inspector.last(panel, stage, ready)] as const));
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const body = new ChoiceBody(Object.fromEntries(last) as Record<StageName, Choice>, inspector.stage, completions(ready.kernel, "%compile -t "));
  const buttons = [Dialog.cancelButton(), Dialog.okButton({ label: "Run" })];
  const { button, value } = await showDialog({ title: "Inspect Cell", body, buttons, focusNodeSelector: "select" });
  return button.accept ? value : null;
}

const CATEGORY = "JAXStage";
/** In the toolbar of a cell. */
const BUTTONS = ["jaxstage:inspect", "jaxstage:choose"];
const title = (stage: StageName) => `${stage[0]?.toUpperCase()}${stage.slice(1)}`;

const CAPTIONS: Record<StageName, string> = {
  trace: "Show the jaxpr of the call on the cell's last line",
  lower: "Show the jaxpr and the StableHLO of the call on the cell's last line",
  compile: "Show every stage up to the optimised HLO of the call on the cell's last line",
  profile: "Run the cell's last statement under the profiler and show its timeline",
};

function addCommands({ commands }: JupyterFrontEnd, inspector: Inspector): string[] {
  const isEnabled = () => inspector.place !== null;
  const isVisible = () => inspector.isVisible;
  for (const stage of STAGES) {
    const execute = () => saying(() => inspector.inspect(stage));
    commands.addCommand(`jaxstage:${stage}`, { label: `${title(stage)} Cell`, caption: CAPTIONS[stage], isEnabled, execute });
  }
  commands.addCommand("jaxstage:inspect", {
    label: "",
    caption: () => `${title(inspector.stage)} cell with the last target and options`,
    icon: jaxstageIcon,
    isVisible,
    execute: () => saying(() => inspector.inspect(inspector.stage)),
  });
  commands.addCommand("jaxstage:choose", {
    label: (args) => (args.toolbar ? "" : "Inspect Cell with…"),
    caption: "Choose a stage, a target and options for this cell",
    icon: (args) => (args.toolbar ? caretDownIcon : undefined),
    isVisible: (args) => !args.toolbar || inspector.isVisible,
    execute: () => saying(() => inspector.inspect(inspector.stage, (place, ready) => chooseStage(inspector, place, ready))),
  });
  return [...STAGES.map((stage) => `jaxstage:${stage}`), "jaxstage:choose"];
}

export const inspectCell: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:inspect-cell",
  description: "Traces, lowers, compiles and profiles the active cell.",
  autoStart: true,
  requires: [INotebookTracker, IKernelLinks, IPreferences],
  optional: [ICommandPalette],
  activate: (app, notebooks: INotebookTracker, links: IKernelLinks, preferences: IPreferences, palette: ICommandPalette | null) => {
    const inspector = new Inspector(notebooks, links, preferences);
    for (const command of addCommands(app, inspector)) palette?.addItem({ command, category: CATEGORY });
    const changed = () => BUTTONS.forEach((command) => app.commands.notifyCommandChanged(command));
    preferences.onChange(changed);
    notebooks.activeCellChanged.connect(changed);
    notebooks.currentChanged.connect((_, panel) => {
      changed();
      panel?.sessionContext.kernelChanged.connect(changed);
    });
  },
};

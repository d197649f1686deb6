/** The dialog in which a user chooses a stage, a target and options for a cell. */

import { Dialog, showDialog } from "@jupyterlab/apputils";
import type { Kernel } from "@jupyterlab/services";
import { Widget } from "@lumino/widgets";
import { type Choice, STAGES, type StageName, hasTarget, isStage } from "./cellCode";
import type { Inspector, Place } from "./inspector";
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
export async function chooseStage(inspector: Inspector, { panel }: Place, ready: ReadyKernel): Promise<Choice | null> {
  const last = await Promise.all(STAGES.map(async (stage) => [stage, await inspector.last(panel, stage, ready)] as const));
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const body = new ChoiceBody(Object.fromEntries(last) as Record<StageName, Choice>, inspector.stage, completions(ready.kernel, "%compile -t "));
  const buttons = [Dialog.cancelButton(), Dialog.okButton({ label: "Run" })];
  const { button, value } = await showDialog({ title: "Inspect Cell", body, buttons, focusNodeSelector: "select" });
  return button.accept ? value : null;
}

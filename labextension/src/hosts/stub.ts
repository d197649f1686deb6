/** The anywidget's script: takes the panel's code from the JupyterLab extension, or once a page from the kernel. */

import { BUILD } from "jaxstage:build";
import { progressText } from "./progressText";
import { messageOf } from "../wire/errors";
import { gunzip } from "../wire/gzip";
import { importScript } from "../wire/importScript";
import { type PanelModule, type PanelWidget, type SentPanel, fromKernel, offered } from "../wire/panelModule";
import { Requests } from "../wire/requests";
import type { Model } from "../wire/source";

async function ask(model: Model): Promise<PanelModule> {
  const requests = new Requests((message) => model.send(message));
  const receive = (message: unknown, buffers: unknown) => requests.receive(message, buffers);
  model.on("msg:custom", receive);
  try {
    const { buffers } = await requests.request("script", { doc: "panel" });
    const [script, style] = buffers;
    const module = (await importScript(script ?? new ArrayBuffer(0))) as unknown as SentPanel;
    module.addStyle("panel", new TextDecoder().decode(await gunzip(style ?? new ArrayBuffer(0))));
    return module;
  } finally {
    model.off("msg:custom", receive);
  }
}

/** One panel's kernel may be gone: the next panel asks its own. */
function askOnce(model: Model): Promise<PanelModule> {
  const asked = fromKernel();
  const asking = (asked.get(BUILD) ?? Promise.reject()).catch(() => ask(model));
  asked.set(BUILD, asking);
  return asking;
}

function panelModule(model: Model): Promise<PanelModule> {
  const panel = offered();
  return panel?.version === BUILD ? panel().catch(() => askOnce(model)) : askOnce(model);
}

/** In the panel's place: how far the kernel is, and a line with a button where something can be done. What is returned ends it. */
function standIn(el: HTMLElement, progress: () => string, said: string, retry?: () => void): () => void {
  const stages = document.createElement("div");
  const line = document.createElement("div");
  stages.style.whiteSpace = "pre-wrap";
  line.className = "jaxstage-loading";
  line.setAttribute("role", retry ? "alert" : "status");
  line.textContent = `${said} `;
  if (retry) {
    const button = document.createElement("button");
    button.textContent = "Retry";
    button.onclick = retry;
    line.append(button);
  }
  el.replaceChildren(stages, line);
  const tick = () => {
    const text = progress();
    if (stages.textContent !== text) stages.textContent = text;
  };
  tick();
  const timer = setInterval(tick, TICK_MS);
  return () => clearInterval(timer);
}

/** A page that marimo exported from a running notebook has the model and no kernel. */
const isExported = (): boolean => "__MARIMO_STATIC__" in globalThis;
const NO_KERNEL = "This page was saved without its kernel: open the notebook to see the panel.";

/** A kernel that says something may answer: a late reply too, since marimo's answers when its cells have run. */
const SAID = ["change:state", "msg:custom"];

/** What sooner is there needs no word. */
const SOON_MS = 300;
const TICK_MS = 200;

export default function stub() {
  let own: Model | null = null;
  let widget: PanelWidget | null = null;
  let forget = () => {};
  let came = 0;
  const made = (module: PanelModule, model: Model): PanelWidget => {
    if (!widget) {
      widget = module.widget();
      forget = widget.initialize({ model });
    }
    return widget;
  };
  return {
    /** Waits for nothing: a model that takes longer than two seconds counts as broken. */
    initialize: ({ model }: { model: Model }) => {
      own = model;
      const note = () => {
        came = Date.now();
      };
      note();
      model.on("change:state", note);
      return () => {
        model.off("change:state", note);
        forget();
      };
    },
    render: ({ model, el }: { model: Model; el: HTMLElement }) => {
      let unmount = () => {};
      let gone = false;
      let end = () => {};
      const show = (isAnswering: boolean, said: string, retry?: () => void) => {
        end();
        end = standIn(el, () => progressText(model.get("state"), isAnswering ? came : null), said, retry);
      };
      const stopListening = () => SAID.forEach((event) => model.off(event, draw));
      const draw = async () => {
        if (isExported()) return show(false, NO_KERNEL);
        const timer = setTimeout(() => show(true, "Loading the panel…"), SOON_MS);
        const settle = () => {
          clearTimeout(timer);
          end();
        };
        stopListening();
        unmount = settle;
        try {
          const module = await panelModule(model);
          settle();
          if (gone) return;
          el.replaceChildren();
          unmount = made(module, own ?? model).render({ model, el });
        } catch (error) {
          settle();
          if (gone) return;
          show(false, `The panel's code did not come. ${messageOf(error)}`, () => void draw());
          unmount = end;
          for (const event of SAID) model.on(event, draw);
        }
      };
      void draw();
      return () => {
        gone = true;
        stopListening();
        unmount();
      };
    },
  };
}

/** The live panel as the notebook's own widget renderer draws it. */

import { type IRenderMimeRegistry, MimeModel } from "@jupyterlab/rendermime";
import { type IMessageHandler, type Message, MessageLoop } from "@lumino/messaging";
import { Panel } from "@lumino/widgets";
import { WIDGET_VIEW } from "./kernelModels";

const DRAWN = ".jaxstage";
/** What the widget manager draws where a widget's script failed. */
const FAILED = ".jupyter-widgets-error-widget";
const LATEST_MS = 10_000;

export class LivePanel extends Panel {
  /** Called when the model was closed, by the kernel or with it. */
  closed: () => void = () => {};
  /** Called when the widget cannot be drawn in this page. */
  failed: () => void = () => {};
  /** Called once the panel is there to be seen. */
  drawn: () => void = () => {};
  private observer: MutationObserver;
  private timer: ReturnType<typeof setTimeout>;

  constructor(
    rendermime: IRenderMimeRegistry,
    readonly model: string,
  ) {
    super();
    this.addClass("jaxstage-live");
    this.observer = new MutationObserver(() => this.look());
    this.observer.observe(this.node, { childList: true, subtree: true });
    this.timer = setTimeout(() => this.begin(), LATEST_MS);
    const view = rendermime.createRenderer(WIDGET_VIEW);
    MessageLoop.installMessageHook(view, (_: IMessageHandler, message: Message) => this.hear(message));
    this.addWidget(view);
    const data = { [WIDGET_VIEW]: { version_major: 2, version_minor: 0, model_id: model } };
    void view.renderModel(new MimeModel({ trusted: true, data })).catch(() => this.end());
  }

  /** The view loses its only child when the widget manager takes the view of a closed model away. */
  private hear(message: Message): boolean {
    if (message.type === "child-removed" && !this.isDisposed) queueMicrotask(() => this.end());
    return true;
  }

  private end(): void {
    if (!this.isDisposed) this.closed();
  }

  /** Takes no room until there is something to see, so that what stands in its place can stay. */
  hideUntilDrawn(hidden: boolean): void {
    this.node.style.cssText = hidden ? "position: absolute; visibility: hidden; left: 0; right: 0" : "";
  }

  private look(): void {
    if (this.node.querySelector(DRAWN)) this.begin();
    else if (this.node.querySelector(FAILED)) queueMicrotask(() => this.isDisposed || this.failed());
  }

  private begin(): void {
    this.observer.disconnect();
    clearTimeout(this.timer);
    requestAnimationFrame(() => {
      if (this.isDisposed) return;
      this.hideUntilDrawn(false);
      this.drawn();
    });
  }

  override dispose(): void {
    this.observer.disconnect();
    clearTimeout(this.timer);
    super.dispose();
  }
}


/** One output: a saved panel, or the live one. */

import type { IRenderMime } from "@jupyterlab/rendermime-interfaces";
import type { Message } from "@lumino/messaging";
import { Panel } from "@lumino/widgets";
import { messageOf } from "../../../wire/errors";
import { PAYLOAD_TYPE, type Payload, readPayload } from "../../../wire/payload";
import { LivePanel } from "./livePanel";
import { type Around, around, isLive, onKernelChange } from "./kernelModels";
import { StaticPanel } from "./staticPanel";

/** Whether this page's Content-Security-Policy forbids the scripts of widgets, which anywidget imports from blob: addresses. */
let forbidsBlobs = false;

document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) => {
  if (blockedURI.startsWith("blob") && effectiveDirective.startsWith("script-src")) forbidsBlobs = true;
});

/** Why a widget could not be drawn, in one line. */
const blockedReason = (): string =>
  forbidsBlobs
    ? "The live panel is blocked: this server's Content-Security-Policy needs blob: in script-src for widgets."
    : "The live panel could not be drawn; the browser's console says why.";

/** The same output may be given anew, with more saved or after its cell ran again: what did not change stays as it is. */
export class PanelOutput extends Panel implements IRenderMime.IRenderer {
  private payload: Payload | null = null;
  private problem = "";
  private plain = "";
  /** Why the live panel cannot be drawn in this page. */
  private blocked = "";
  private trusted = false;
  private fixed: StaticPanel | null = null;
  private live: LivePanel | null = null;
  private place: Around | null = null;
  private unwatch = () => {};
  /** Counts what was asked of the kernel: only the last answer holds. */
  private turn = 0;

  constructor() {
    super();
    this.addClass("jaxstage-output");
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.trusted = model.trusted;
    this.blocked = "";
    this.plain = String(model.data["text/plain"] ?? "");
    try {
      this.payload = readPayload(model.data[PAYLOAD_TYPE]);
      this.problem = "";
    } catch (error) {
      this.payload = null;
      this.problem = messageOf(error);
    }
    if (this.isAttached) await this.refresh();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.unwatch();
    this.place = around(this);
    if (this.place) this.unwatch = onKernelChange(this.place, () => void this.refresh());
    void this.refresh();
  }

  protected override onBeforeDetach(message: Message): void {
    this.unwatch();
    this.unwatch = () => {};
    super.onBeforeDetach(message);
  }

  override dispose(): void {
    this.turn++;
    this.unwatch();
    super.dispose();
  }

  /** Shows what there is now: the live panel where its kernel has it, else what was saved. */
  private async refresh(): Promise<void> {
    const turn = ++this.turn;
    const { place, payload } = this;
    const model = this.trusted ? (payload?.model ?? null) : null;
    if (this.live && this.live.model !== model) this.dropLive();
    if (!this.live && (!model || (payload?.reports && !this.hasHeardOf(model)))) this.showStatic();
    const live = place && model ? await isLive(place, model).catch(() => false) : false;
    if (turn !== this.turn || this.isDisposed) return;
    if (live && place && model && !this.blocked) this.showLive(place, model);
    else this.backToStatic();
  }

  private hasHeardOf(model: string): boolean {
    return this.place?.sessionContext.session?.kernel?.hasComm(model) ?? false;
  }

  private backToStatic(): void {
    this.showStatic();
    this.dropLive();
  }

  private showStatic(): void {
    const { payload, plain, problem } = this;
    if (!this.fixed) this.addWidget((this.fixed = new StaticPanel()));
    this.fixed.draw(payload, problem || this.blocked, plain, this.place?.sessionContext ?? null);
  }

  private showLive(place: Around, model: string): void {
    if (this.live) return;
    const live = new LivePanel(place.rendermime, model);
    this.live = live;
    live.closed = () => this.live === live && this.backToStatic();
    live.failed = () => this.live === live && this.giveUp();
    live.drawn = () => this.live === live && this.dropStatic();
    live.hideUntilDrawn(this.fixed !== null);
    this.addWidget(live);
  }

  private giveUp(): void {
    this.blocked = blockedReason();
    this.backToStatic();
  }

  private dropStatic(): void {
    this.fixed?.dispose();
    this.fixed = null;
  }

  private dropLive(): void {
    const { live } = this;
    this.live = null;
    live?.dispose();
  }
}

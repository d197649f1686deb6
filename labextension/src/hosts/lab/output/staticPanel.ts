/** What was saved of a panel: the report, or one line that says what it needs above the text that was saved with it. */

import { Widget } from "@lumino/widgets";
import { messageOf } from "../../../wire/errors";
import type { Payload } from "../../../wire/payload";
import { panelCode } from "../panelCode";
import { type SavedSession, openSaved } from "./savedPanels";

const SAVED = "Saved output; run the cell for the live panel.";
const NO_REPORT = "The live panel is not in this kernel; run the cell again.";
const MOST_PLAIN = 200_000;

/** A line of the notebook's own style, for it stands outside the panel. */
function line(text: string): HTMLElement {
  const node = document.createElement("p");
  node.className = "jaxstage-note";
  node.style.cssText = "margin: 4px 0; font-size: var(--jp-ui-font-size0); color: var(--jp-ui-font-color2)";
  node.textContent = text;
  return node;
}

function preformatted(text: string): HTMLElement {
  const node = document.createElement("pre");
  node.textContent = text.slice(0, MOST_PLAIN);
  return node;
}

export class StaticPanel extends Widget {
  private shown = "";
  private turn = 0;
  private saved: SavedSession | null = null;
  private unmount = () => {};

  constructor() {
    super();
    this.addClass("jaxstage-static");
  }

  /** Draws anew only where that changes something; `home` stands for the notebook. */
  draw(payload: Payload | null, problem: string, plain: string, home: object | null): void {
    const key = JSON.stringify([payload, problem, payload?.reports ? "" : plain]);
    if (this.shown === key) return;
    this.shown = key;
    if (payload?.reports) void this.drawReport(payload, problem, plain, home);
    else this.write(problem || NO_REPORT, plain);
  }

  private async drawReport(payload: Payload, problem: string, plain: string, home: object | null): Promise<void> {
    const turn = ++this.turn;
    try {
      const code = await panelCode();
      const saved = await openSaved(payload, code, home);
      if (turn !== this.turn) return saved.release();
      this.clear();
      this.saved = saved;
      this.node.append(line([problem || SAVED, ...payload.leftOut].join(" ")));
      this.unmount = code.mount(saved.session, this.node);
    } catch (error) {
      if (turn === this.turn) this.write(messageOf(error), plain);
    }
  }

  private write(problem: string, plain: string): void {
    this.turn++;
    this.clear();
    this.node.append(line(problem), preformatted(plain));
  }

  private clear(): void {
    this.unmount();
    this.unmount = () => {};
    this.saved?.release();
    this.saved = null;
    this.node.replaceChildren();
  }

  override dispose(): void {
    this.turn++;
    this.clear();
    super.dispose();
  }
}

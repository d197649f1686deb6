/** What the kernel says of the panel: its calls and their stages. */

import type { Source } from "../wire/source";
import type { PanelState, Stage } from "../wire/state";
import { Observable } from "./observable";

export class Panel extends Observable {
  state: PanelState;
  /** Whether a stage ran by the first state, and no kernel answers for it: it may be long gone. */
  isOrphaned = false;
  /** Date.now() when the state came, and how long its running stage had run by then where that is known better. */
  private came = { at: Date.now(), elapsed: null as number | null };

  /** `prepare` is called with each new state before those who listen to it. */
  constructor(
    private source: Source,
    prepare: (isNewRun: boolean) => void,
  ) {
    super();
    this.state = source.state();
    source.onState(() => {
      const { run } = this.state;
      this.state = source.state();
      this.isOrphaned = false;
      this.came = { at: Date.now(), elapsed: null };
      prepare(this.state.run !== run);
      this.changed();
    });
    if (this.state.busy) void this.askElapsed();
  }

  /** Date.now() at which a stage that runs has begun. */
  since(stage: Stage): number {
    return this.came.at - 1000 * (this.came.elapsed ?? stage.elapsed ?? 0);
  }

  /** The first state may be one that the kernel has pushed long ago, to a page that is gone. */
  private async askElapsed(): Promise<void> {
    const { came } = this;
    const reply = await this.source.request("elapsed", {}).catch(() => null);
    if (came !== this.came) return;
    const elapsed = reply?.result.elapsed;
    if (!reply) this.isOrphaned = true;
    else if (typeof elapsed === "number") this.came = { at: Date.now(), elapsed };
    else return;
    this.changed();
  }
}

import { Requests } from "./requests";
import type { Model, Source } from "./source";
import { type PanelState, readState } from "./state";

/** The data of a widget's model. */
export class KernelSource extends Requests implements Source {
  constructor(
    private model: Model,
    timeout?: number,
  ) {
    super((message) => model.send(message), timeout);
    model.on("msg:custom", (message: unknown, buffers: unknown) => this.receive(message, buffers));
  }

  state(): PanelState {
    return readState(this.model.get("state"));
  }

  onState(listener: () => void): () => void {
    this.model.on("change:state", listener);
    return () => this.model.off("change:state", listener);
  }
}

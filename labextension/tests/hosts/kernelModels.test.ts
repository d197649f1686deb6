import { describe, expect, it } from "vitest";
import { type Around, isLive, onKernelChange, WIDGET_VIEW } from "../../src/hosts/lab/output/kernelModels";

type Listener = (sender: unknown, value: unknown) => void;

class Signal {
  private listeners = new Set<Listener>();
  connect = (listener: Listener) => this.listeners.add(listener);
  disconnect = (listener: Listener) => this.listeners.delete(listener);
  emit = (value: unknown) => this.listeners.forEach((listener) => listener(null, value));
}

/** A notebook whose kernel has these models, and a restart of it that takes no time. */
function notebook(models: string[]) {
  const kernel = {
    isDisposed: false,
    status: "idle",
    hasComm: () => false,
    requestCommInfo: async () => ({ content: { status: "ok", comms: Object.fromEntries(models.map((model) => [model, {}])) } }),
  };
  const [kernelChanged, statusChanged, connectionStatusChanged] = [new Signal(), new Signal(), new Signal()];
  const sessionContext = { ready: Promise.resolve(), session: { kernel }, kernelChanged, statusChanged, connectionStatusChanged };
  const place = { sessionContext, rendermime: { mimeTypes: [WIDGET_VIEW] } } as unknown as Around;
  const restart = () => {
    models.length = 0;
    for (kernel.status of ["restarting", "idle"]) statusChanged.emit(kernel.status);
    connectionStatusChanged.emit("connected");
  };
  return { place, restart };
}

describe("the models of a kernel", () => {
  it("are none after a restart, also at once after they were asked for", async () => {
    const { place, restart } = notebook(["model"]);
    const asked: Promise<boolean>[] = [];
    const end = onKernelChange(place, () => asked.push(isLive(place, "model")));
    expect(await isLive(place, "model")).toBe(true);
    restart();
    expect(asked.length).toBe(2);
    expect(await Promise.all(asked)).toEqual([false, false]);
    end();
  });
});

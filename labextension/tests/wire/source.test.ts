import { afterEach, describe, expect, it, vi } from "vitest";
import { readRows } from "../../src/wire/columns";
import { KernelSource } from "../../src/wire/kernelSource";
import type { Model } from "../../src/wire/source";
import { readState } from "../../src/wire/state";
import { columnsReply, gz } from "../helpers";

class FakeModel implements Model {
  sent: { id: number; method: string; params: unknown }[] = [];
  state: unknown = {};
  private listeners: Record<string, ((...args: never[]) => void)[]> = {};
  get = () => this.state;
  on = (event: string, listener: (...args: never[]) => void) => void (this.listeners[event] ??= []).push(listener);
  off = (event: string, listener?: ((...args: never[]) => void) | null) => {
    this.listeners[event] = (this.listeners[event] ?? []).filter((one) => listener && one !== listener);
  };
  send = (content: unknown) => void this.sent.push(content as never);
  emit(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners[event] ?? []) listener(...(args as never[]));
  }
}

afterEach(() => vi.useRealTimers());

describe("the kernel", () => {
  it("answers each request by its id, in any order", async () => {
    const model = new FakeModel();
    const source = new KernelSource(model);
    const asked = [source.request("page", { call: 0 }), source.request("frames", { call: 0 })];
    const [first, second] = model.sent;
    model.emit("msg:custom", { kind: "reply", id: second?.id, result: { n: 2 } }, []);
    model.emit("msg:custom", { kind: "reply", id: first?.id, result: { n: 1 } }, []);
    model.emit("msg:custom", { kind: "reply", id: 12345, result: {} }, []);
    expect((await Promise.all(asked)).map((reply) => reply.result.n)).toEqual([1, 2]);
  });

  it("passes the kernel's own words on", async () => {
    const model = new FakeModel();
    const asked = new KernelSource(model).request("page", {});
    model.emit("msg:custom", { kind: "reply", id: model.sent[0]?.id, error: { kind: "absent", message: "there is no 'hlo' document" } }, []);
    await expect(asked).rejects.toThrow("there is no 'hlo' document");
  });

  it("is given up on when it is silent", async () => {
    vi.useFakeTimers();
    const asked = new KernelSource(new FakeModel(), 1000).request("page", {});
    const failed = expect(asked).rejects.toThrow("did not answer");
    vi.advanceTimersByTime(1001);
    await failed;
  });

  it("tells the others of its state when one stops listening", () => {
    const model = new FakeModel();
    const source = new KernelSource(model);
    const [gone, there] = [vi.fn(), vi.fn()];
    const stop = source.onState(gone);
    source.onState(there);
    stop();
    model.emit("change:state");
    expect([gone.mock.calls.length, there.mock.calls.length]).toEqual([0, 1]);
  });

  it("sends buffers at any offset", async () => {
    const model = new FakeModel();
    const asked = new KernelSource(model).request("search", {});
    const bytes = new Uint8Array(11);
    bytes.set(new Uint8Array(Int32Array.of(7, 9).buffer), 3);
    model.emit("msg:custom", { kind: "reply", id: model.sent[0]?.id, result: {} }, [new DataView(bytes.buffer, 3, 8)]);
    expect([...new Int32Array((await asked).buffers[0] ?? new ArrayBuffer(0))]).toEqual([7, 9]);
  });
});

describe("columns", () => {
  it("are read by name, whatever else there is", async () => {
    const reply = columnsReply({ frame: [4, 5], flags: [1, 2], surprise: [0] }, { scopes: ["a", "b"] });
    const rows = await readRows(reply, 2);
    expect([[...rows.frame], [...rows.flags], [...rows.foldEnd], rows.scopes, rows.origin]).toEqual([
      [4, 5],
      [1, 2],
      [-1, -1],
      ["a", "b"],
      null,
    ]);
  });

  it("fit the document even when they come shorter or longer", async () => {
    const rows = await readRows(columnsReply({ frame: [1], flags: [1, 1, 1, 1], number: [9], origin: [1, 2, 3, 4, 5] }), 3);
    expect([...rows.frame]).toEqual([1, -1, -1]);
    expect([rows.flags.length, rows.origin?.length]).toEqual([3, 3]);
    expect([...(rows.number ?? [])]).toEqual([9, -1, -1]);
  });

  it("that unpack to too much are refused", async () => {
    const { gunzip } = await import("../../src/wire/gzip");
    await expect(gunzip(gz(new Uint8Array(100_000)), 1000)).rejects.toThrow("more than 1000 bytes");
  });
});

it("a state of any shape is read", () => {
  expect(readState(null)).toEqual({ calls: [], busy: false, run: "" });
  const [call] = readState({ calls: [{ name: 3, stages: [{ state: "odd", seconds: "1" }], error: {}, documents: 5 }] }).calls;
  expect(call?.name).toBe("");
  expect(call?.stages[0]).toMatchObject({ state: "waiting", seconds: null });
  expect(call?.documents).toEqual([]);
  expect(call?.options).toEqual([]);
  const [odd] = readState({ calls: [{ options: { a: { b: 1 }, c: false, d: null, e: 0.5 } }, { options: "text" }] }).calls;
  expect(odd?.options).toEqual([["a", ""], ["c", "False"], ["d", ""], ["e", "0.5"]]);
});

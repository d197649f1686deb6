import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pendingOf, poll } from "../../src/wire/poll";
import type { Reply } from "../../src/wire/source";

const reply = (result: Record<string, unknown>): Reply => ({ result, buffers: [] });
const pending = (elapsed: unknown, progress: unknown = null) => reply({ pending: { elapsed, progress } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Answers in turn, and the times at which they were asked for. */
function kernel(...replies: (Reply | Error)[]) {
  const asked: number[] = [];
  const ask = async () => {
    asked.push(Date.now());
    const next = replies.length > 1 ? replies.shift() : replies[0];
    if (next instanceof Error) throw next;
    return next as Reply;
  };
  return { ask, asked };
}

describe("poll", () => {
  it("asks until there is an answer, ever more patiently, and tells how far it is", async () => {
    const { ask, asked } = kernel(...Array.from({ length: 12 }, (_, i) => pending(i, `pass ${i}`)), reply({ done: 1 }));
    const heard: unknown[] = [];
    const answer = poll(ask, (progress) => heard.push(progress));
    await vi.runAllTimersAsync();
    expect((await answer).result).toEqual({ done: 1 });
    expect(heard.length).toBe(12);
    expect(heard[3]).toEqual({ elapsed: 3, text: "pass 3" });
    const waits = asked.slice(1).map((at, i) => at - (asked[i] as number));
    expect(waits[0]).toBe(40);
    expect(Math.max(...waits)).toBe(1000);
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
  });

  it("ends with the error of a request", async () => {
    const { ask } = kernel(pending(0), new Error("XLA said no"));
    const answer = poll(ask);
    const caught = expect(answer).rejects.toThrow("XLA said no");
    await vi.runAllTimersAsync();
    await caught;
  });

  it("asks no more once the view is gone", async () => {
    const { ask, asked } = kernel(pending(0));
    const gone = new AbortController();
    const caught = expect(poll(ask, undefined, gone.signal)).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(1000);
    const before = asked.length;
    expect(before).toBeGreaterThan(1);
    gone.abort();
    await caught;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked.length).toBe(before);
  });

  it("takes odd progress for what it can be", () => {
    expect(pendingOf(reply({ pending: 3 }))).toBeNull();
    expect(pendingOf(reply({ rows: [] }))).toBeNull();
    expect(pendingOf(pending("soon", 4))).toEqual({ elapsed: 0, text: null });
    expect(pendingOf(pending(-2, "x".repeat(9999)))?.text?.length).toBe(500);
  });
});

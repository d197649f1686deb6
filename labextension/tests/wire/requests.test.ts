import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Requests } from "../../src/wire/requests";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const made = () => {
  const sent: { id: number; method: string }[] = [];
  const requests = new Requests((message) => sent.push(message));
  return { sent, requests };
};

it("a request that waits behind a busy cell is sent once more, and the first answer counts", async () => {
  const { sent, requests } = made();
  const reply = requests.request("document", { call: 0 });
  await vi.advanceTimersByTimeAsync(2_900);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toEqual(sent[0]);
  requests.receive({ kind: "reply", id: sent[0]!.id, result: { lines: 3 } }, []);
  requests.receive({ kind: "reply", id: sent[0]!.id, result: { lines: 4 } }, []);
  expect((await reply).result).toEqual({ lines: 3 });
});

it("what was answered, refused or ended is not sent again", async () => {
  const { sent, requests } = made();
  const answered = requests.request("a", {});
  requests.receive({ kind: "reply", id: sent[0]!.id, result: {} }, []);
  await answered;
  const ended = requests.request("b", {});
  requests.end();
  await expect(ended).rejects.toThrow("The kernel did not answer.");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.map(({ method }) => method)).toEqual(["a", "b"]);
});

it("without an answer it ends after 20 seconds", async () => {
  const { sent, requests } = made();
  const refused = expect(requests.request("a", {})).rejects.toThrow("The kernel did not answer.");
  await vi.advanceTimersByTimeAsync(20_000);
  await refused;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(2);
});

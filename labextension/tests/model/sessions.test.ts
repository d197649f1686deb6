import { expect, it } from "vitest";
import { newLayout } from "../../src/model/layout";
import { Sessions } from "../../src/model/sessions";
import { SavedSource } from "../../src/wire/savedForm";
import type { Model } from "../../src/wire/source";
import fixture from "../fixtures/loss.json";

const open = () => new SavedSource(fixture);
const model = (): Model => ({ get: () => ({}), on: () => undefined, off: () => undefined, send: () => undefined });

it("every view of a model, or of a report, has one session", () => {
  const sessions = new Sessions();
  const [one, other] = [model(), model()];
  expect(sessions.ofModel(one)).toBe(sessions.ofModel(one));
  expect(sessions.ofModel(other)).not.toBe(sessions.ofModel(one));
  const report = sessions.ofReport("a", open);
  expect(sessions.ofReport("a", () => new SavedSource([]))).toBe(report);
  expect(report.summary?.name).toBe("loss");
  sessions.forget("a");
  expect(sessions.ofReport("a", open)).not.toBe(report);
});

it("what is selected is shared, how a mount is laid out is not", () => {
  const session = new Sessions().ofReport("a", open);
  const [wide, narrow] = [newLayout(), newLayout({ height: 200 })];
  wide.set({ panes: ["hlo"], large: true });
  session.select("hlo", 3);
  expect(narrow.get()).toMatchObject({ panes: null, large: false, height: 200 });
  expect(session.store.get().selected?.row).toBe(3);
});

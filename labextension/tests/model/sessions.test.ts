import { expect, it } from "vitest";
import { newLayout } from "../../src/model/layout";
import { Session } from "../../src/model/session";
import { Sessions } from "../../src/model/sessions";
import { SavedSource } from "../../src/wire/savedForm";
import type { Model } from "../../src/wire/source";
import fixture from "../fixtures/loss.json";
import { FakeKernel, soon } from "../kernel";

const open = () => new SavedSource(fixture);
const model = (): Model => ({ get: () => ({}), on: () => undefined, off: () => undefined, send: () => undefined });

it("every view of a model, or of a report, has one session", () => {
  const sessions = new Sessions();
  const [one, other] = [model(), model()];
  expect(sessions.ofModel(one)).toBe(sessions.ofModel(one));
  expect(sessions.ofModel(other)).not.toBe(sessions.ofModel(one));
  const report = sessions.ofReport("a", open);
  expect(sessions.ofReport("a", () => new SavedSource([]))).toBe(report);
  expect(report.selection.summary?.name).toBe("loss");
  sessions.forget("a");
  expect(sessions.ofReport("a", open)).not.toBe(report);
});

it("what is selected is shared, how a mount is laid out is not", () => {
  const session = new Sessions().ofReport("a", open);
  const [wide, narrow] = [newLayout(), newLayout({ height: 200 })];
  wide.set({ panes: ["hlo"], large: true });
  session.selection.select("hlo", 3);
  expect(narrow.get()).toMatchObject({ panes: null, large: false, height: 200 });
  expect(session.selection.get().selected?.row).toBe(3);
});

it("a cell that runs again has its documents and frames fetched anew, and nothing of the former run answers", async () => {
  const kernel = new FakeKernel();
  const session = new Session(kernel);
  const rows = () => session.documents.loaded("hlo")?.rows;
  session.documents.doc("hlo");
  await soon(() => expect(rows() && session.documents.frames()).toBeTruthy());
  session.selection.select("hlo", 3);
  session.selection.set({ view: "cost" });
  const question = session.questions.asked("cost", {}, () => 1);
  const before = kernel.asked.length;
  kernel.push({ ...kernel.now, run: "2" });
  expect([session.documents.loaded("hlo"), session.documents.frames(), session.selection.get().selected]).toEqual([null, null, null]);
  expect(session.selection.get().view).toBe("cost");
  expect(session.questions.asked("cost", {}, () => 1)).not.toBe(question);
  session.documents.doc("hlo");
  await soon(() => expect(rows() && session.documents.frames()).toBeTruthy());
  expect(kernel.asked.slice(before)).toEqual(expect.arrayContaining(["document hlo", "frames"]));
});

it("frames of a former run that come late are not taken for those of this one", async () => {
  const kernel = new FakeKernel();
  const session = new Session(kernel);
  let late = () => {};
  const answer = kernel.request.bind(kernel);
  kernel.request = async (method, params) => {
    const reply = await answer(method, params);
    if (method === "frames") await new Promise<void>((resolve) => (late = resolve));
    return reply;
  };
  session.documents.doc("hlo");
  await soon(() => expect(kernel.asked).toContain("frames"));
  kernel.push({ ...kernel.now, run: "2" });
  late();
  await new Promise((done) => setTimeout(done, 20));
  expect(session.documents.frames()).toBeNull();
});

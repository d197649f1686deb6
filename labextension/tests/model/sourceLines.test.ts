import { describe, expect, it } from "vitest";
import { litLines, selectLine, sourceDocument } from "../../src/model/sourceLines";
import { Session } from "../../src/model/session";
import { columnsReply } from "../helpers";
import { FakeKernel, soon } from "../kernel";

const TANH = { doc: "hlo", row: 74, from: "hlo" };
const SOFTMAX = { doc: "hlo", row: 109, from: "hlo" };

async function opened(kernel = new FakeKernel()): Promise<Session> {
  const session = new Session(kernel);
  await sourceDocument(session.documents);
  session.documents.doc("hlo");
  await soon(() => expect(session.documents.loaded("hlo")?.rows).toBeTruthy());
  return session;
}

describe("the lines of what is pointed at", () => {
  it("are none without a hover or a selection, and none of what has no source line", async () => {
    const session = await opened();
    expect(litLines(session.documents, session.selection)).toEqual([]);
    session.selection.set({ hover: { doc: "hlo", row: 102, from: "hlo" } });
    expect(litLines(session.documents, session.selection)).toEqual([]);
  });

  it("have the colour that the panel gives them", async () => {
    const session = await opened();
    session.selection.set({ hover: SOFTMAX });
    expect(litLines(session.documents, session.selection)).toEqual([{ file: 0, first: 18, last: 18, hue: 140, by: "hover", isDirect: true }]);
    session.selection.set({ hover: { doc: "python", row: 5, from: "python" } });
    expect(litLines(session.documents, session.selection)).toMatchObject([{ first: 18, last: 18, hue: 140 }]);
  });

  it("are those of the selection and of the hover, each once", async () => {
    const session = await opened();
    session.selection.select("hlo", SOFTMAX.row);
    session.selection.set({ hover: TANH });
    expect(litLines(session.documents, session.selection).map(({ first, by }) => [first, by])).toEqual([[18, "selected"], [16, "hover"]]);
    session.selection.set({ hover: session.selection.get().selected });
    expect(litLines(session.documents, session.selection).map(({ first, by }) => [first, by])).toEqual([[18, "selected"]]);
  });

  it("include, weakly, those that a line calls; of a called line not its callers", async () => {
    const kernel = new FakeKernel();
    const [zero, none] = [[0, 0], [-1, -1]];
    const columns = { file: zero, function: zero, line: [18, 16], column: zero, end_line: [19, 16], end_column: zero, parent: [-1, 0], user: [0, 1] };
    kernel.answers.frames = () => columnsReply(columns, { files: [{ name: "model.py", user: true }], functions: ["f"] });
    kernel.answers.columns = ({ doc }) => columnsReply({ frame: doc === "hlo" ? [0, 1] : none, flags: [1, 1], ...(doc === "python" && { file: zero, number: [18, 16] }) });
    const session = await opened(kernel);
    session.selection.set({ hover: { doc: "python", row: 0, from: "python" } });
    expect(litLines(session.documents, session.selection)).toMatchObject([
      { first: 16, last: 16, isDirect: false },
      { first: 18, last: 18, isDirect: true },
    ]);
    session.selection.set({ hover: { doc: "hlo", row: 1, from: "hlo" } });
    expect(litLines(session.documents, session.selection)).toMatchObject([{ first: 16, last: 16, isDirect: true }]);
    session.selection.set({ hover: { doc: "hlo", row: 0, from: "hlo" } });
    expect(litLines(session.documents, session.selection)).toMatchObject([{ first: 18, last: 19, isDirect: true }]);
  });
});

describe("selecting a line", () => {
  it("selects its row of the source, and changes nothing where that is selected", async () => {
    const session = await opened();
    expect(selectLine(session.documents, session.selection, 0, 18)).toBe(true);
    const { selected } = session.selection.get();
    expect(selected).toMatchObject({ doc: "python", row: 5 });
    selectLine(session.documents, session.selection, 0, 18);
    expect(session.selection.get().selected).toBe(selected);
  });

  it("that the source does not show selects an operation that it made", async () => {
    const kernel = new FakeKernel();
    const session = await opened(kernel);
    const rows = session.documents.loaded("python")?.rows;
    rows?.number?.fill(-1);
    expect(selectLine(session.documents, session.selection, 0, 16)).toBe(true);
    const { selected } = session.selection.get();
    expect(session.documents.hue(session.documents.loaded("hlo") as never, selected?.row ?? -1)).toBe(0);
    expect(selected?.doc).toBe("hlo");
    expect(selectLine(session.documents, session.selection, 0, 3)).toBe(false);
  });

  it("of a call whose documents cannot be had selects nothing", async () => {
    const kernel = new FakeKernel();
    kernel.dead = true;
    const session = new Session(kernel);
    expect(await sourceDocument(session.documents)).toBeNull();
    expect(selectLine(session.documents, session.selection, 0, 16)).toBe(false);
  });
});

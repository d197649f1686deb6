import { describe, expect, it } from "vitest";
import { Question } from "../../src/model/question";
import { Refusal, readRefusal } from "../../src/wire/errors";
import type { Reply, Source } from "../../src/wire/source";
import { readState } from "../../src/wire/state";

describe("a refusal", () => {
  it("says by its kind what happened, whatever its words", () => {
    expect(readRefusal({ kind: "busy", message: "Waiting for 4 running analyses" })).toMatchObject({ kind: "busy", message: "Waiting for 4 running analyses" });
    expect(readRefusal({ kind: "failed", message: "the worker died", log: true })).toMatchObject({ kind: "failed", hasLog: true });
    expect(readRefusal({ kind: "evil", message: 7 })).toMatchObject({ kind: "failed", message: "" });
    expect([readRefusal(undefined), readRefusal(null)]).toEqual([null, null]);
  });
});

class Asks implements Source {
  count = 0;
  constructor(private answers: (() => Reply)[]) {}
  state = () => readState({});
  onState = () => () => undefined;
  request = async (): Promise<Reply> => (this.answers[this.count++] ?? (this.answers.at(-1) as () => Reply))();
}

const refuse = (kind: "busy" | "stopped" | "absent") => () => {
  throw new Refusal("words", kind);
};

async function answered(...answers: (() => Reply)[]): Promise<Question<string>> {
  const question = new Question(new Asks(answers), "cost", {}, ({ result }) => String(result.text));
  await new Promise<void>((resolve) => question.use(() => question.now.state !== "waiting" && resolve()));
  return question;
}

describe("a question", () => {
  it("waits while the kernel is busy with others", async () => {
    const { now } = await answered(refuse("busy"), () => ({ result: { text: "done" }, buffers: [] }));
    expect(now).toMatchObject({ state: "done", value: "done", progress: "words" });
  });

  it("tells what was stopped from what is not there", async () => {
    expect((await answered(refuse("stopped"))).now).toMatchObject({ state: "stopped" });
    expect((await answered(refuse("absent"))).now).toMatchObject({ state: "failed", isAbsent: true });
  });
});

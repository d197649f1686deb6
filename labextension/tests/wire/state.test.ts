import { describe, expect, it } from "vitest";
import { readState } from "../../src/wire/state";

const summary = (raw: Record<string, unknown>) => readState({ calls: [raw] }).calls[0];

describe("the state", () => {
  it("brings the tab to open", () => {
    expect(summary({ open: "cost", views: ["cost"] })?.open).toBe("cost");
    expect(summary({ open: "", views: ["compare"] })?.open).toBe("");
  });

  it("says whether a fact is known, and what it counts", () => {
    const facts = [
      { label: "peak", text: "not on file", known: false, reason: "no device" },
      { label: "peak", text: "3 MB", note: "without temporaries" },
    ];
    expect(summary({ facts })?.facts.map(({ isUnknown, note }) => [isUnknown, note])).toEqual([[true, null], [false, "without temporaries"]]);
  });

  it("says whether a worker's log may say more of an error", () => {
    expect(summary({ error: { log: true } })?.error?.hasLog).toBe(true);
    expect(summary({ worker: true, error: { stage: "compile", log: false } })?.error?.hasLog).toBe(false);
  });
});

// @vitest-environment happy-dom
import { afterEach, expect, it } from "vitest";
import { mount } from "../../src/hosts/mount";
import { Session } from "../../src/model/session";
import { readState } from "../../src/wire/state";
import { $$, FakeKernel } from "../kernel";
import { STATES } from "../recorded";

interface Fact {
  label: string;
  text: string;
  known: boolean;
  reason: string | null;
  note: string | null;
}

let unmount = () => {};
afterEach(() => unmount());

const facts = (program: string): Fact[] => (STATES[program] as { calls: { facts: Fact[] }[] }).calls[0]?.facts ?? [];

for (const program of ["gradient", "resharded"]) {
  it(`shows every recorded fact of ${program}: why it is unknown, and its note as a tooltip`, () => {
    const kernel = new FakeKernel();
    kernel.now = readState(STATES[program]);
    unmount = mount(new Session(kernel), document.body);
    const shown = $$(".jxs-fact");
    const sent = facts(program);
    expect(sent.length).toBeGreaterThan(2);
    expect(sent.some(({ note }) => note)).toBe(true);
    for (const [i, { label, text, known, reason, note }] of sent.entries()) {
      const node = shown[i] as HTMLElement;
      expect(node.querySelector(".jxs-label")?.textContent).toBe(label);
      expect(node.querySelector(".jxs-value")?.textContent).toBe(`${text}${reason ? `: ${reason}` : ""}`);
      expect(node.classList.contains("jxs-unknown")).toBe(!known);
      for (const words of [reason, note]) if (words) expect(node.title).toContain(words);
    }
  });
}

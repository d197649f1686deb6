import { expect, it } from "vitest";
import { cutTo, fittingText } from "../../src/parts/fittingText";

/** A proportional font: capitals and "m" are twice as wide as "i", the ellipsis as wide as a capital. */
const widths = (text: string) => [...text].reduce((sum, letter) => sum + (/[A-Zm…]/.test(letter) ? 10 : 5), 0);
const font = { measureText: (text: string) => ({ width: widths(text) }) as TextMetrics };

it.each(["ThunkExecutor::Execute", "CommonPjRtLoadedExecutable::Execute", "iiiiiiiiiiiiiii", "MMMMMMMM", "x".repeat(5000)])(
  "no part of %.30s is outside its room, and no letter that has room is left out",
  (name) => {
    for (let room = 0; room <= 200; room += 3) {
      const shown = fittingText(font, name, room);
      expect(widths(shown)).toBeLessThanOrEqual(room);
      if (shown === name || shown === "") continue;
      const isWhole = shown.length === name.length; // but one letter
      if (!isWhole) expect(widths(cutTo(name, shown.length))).toBeGreaterThan(room);
    }
  },
);

it("a name keeps its end, which tells it from others of its beginning", () => {
  const [one, other] = ["multiply_add_fusion.1", "multiply_add_fusion.2"].map((name) => fittingText(font, name, 80));
  expect(one).not.toBe(other);
  expect(one).toMatch(/^multip.*….*n\.1$/);
});

it("a name that has room is whole, and one letter of a name is none", () => {
  expect(fittingText(font, "tanh", 20)).toBe("tanh");
  expect(fittingText(font, "tanh.1", 17)).toBe("");
  expect(fittingText(font, "tanh", -3)).toBe("");
});

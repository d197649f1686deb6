import { render } from "preact";
import type { Params } from "../../../wire/source";
import type { KernelLink } from "../tokens";
import { ComparisonView } from "./comparisonView";
import { rootIn } from "./drawing";

/** Draws two inspections side by side; `pair` names them to the kernel. */
export function drawComparison(
  host: HTMLElement,
  link: KernelLink,
  pair: { id: string; made: number; other: string; otherMade: number },
  onTitle: (title: string) => void,
): void {
  const { id, made, other, otherMade } = pair;
  const params: Params = { id, made, other, other_made: otherMade };
  const ask = (method: string, asked: Params) => link.request(method, asked);
  render(<ComparisonView ask={ask} pair={params} onTitle={onTitle} />, rootIn(host, "jxs-inspections-compared-root"));
}

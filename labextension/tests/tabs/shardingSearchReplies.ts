import type { Params, Reply } from "../../src/wire/source";
import { packed } from "./tableReply";

/** Four layouts: the best, one that was compiled and does not fit, the user's own, and one of unknown time. */
export const FOUND: Reply = await (async () => {
  const { result, buffers } = await packed({
    number: [0, 1, 2, 3],
    time: [0.0875, 0.1, 0.168, Number.NaN],
    least: [0.08, 0.085, 0.1, Number.NaN],
    most: [0.09, 0.105, 0.19, Number.NaN],
    arguments: [4.5e9, 9e9, 3e9, 1e9],
    needed: [Number.NaN, 20e9, Number.NaN, Number.NaN],
  });
  return { result, buffers };
})();
export const ask = (params: Params): number => params.layout as number;

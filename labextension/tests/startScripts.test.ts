import { expect, test } from "vitest";
// @ts-expect-error: a script of the build, without types
import { startChunks, startScripts } from "../startScripts.mjs";

const ONE = '{"./index":()=>r.e(486).then(()=>()=>r(989)),"./extension":()=>r.e(486).then(()=>()=>r(989))}';
const SEVERAL = '{"./extension":()=>Promise.all([r.e(7),r.e("panel-kit")]).then(()=>()=>r(9))},later=()=>r.e(100).then(x)';

test("the chunks of the exposed module load at the start, those behind an import() do not", () => {
  expect(startChunks(ONE)).toEqual(["486"]);
  expect(startChunks(SEVERAL)).toEqual(["7", "panel-kit"]);
  const names = ["7.aa.js", "panel-kit.bb.js", "100.cc.js", "remoteEntry.dd.js", "style.js"];
  expect(startScripts(names, SEVERAL)).toEqual(["7.aa.js", "panel-kit.bb.js", "remoteEntry.dd.js", "style.js"]);
});

test("a builder that writes its loader differently fails the build instead of counting nothing", () => {
  expect(() => startChunks('{"./extension":()=>import("./x.js")}')).toThrow("could not be read");
});

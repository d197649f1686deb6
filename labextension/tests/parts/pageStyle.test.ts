// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { addStyle, styleWhere } from "../../src/parts/pageStyle";

const rules = (root: DocumentOrShadowRoot) => root.adoptedStyleSheets.map((sheet) => sheet.cssRules[0]?.cssText ?? "");

test("what is drawn inside a shadow root has the sheets of before and those to come, each once", () => {
  const host = document.body.appendChild(document.createElement("div"));
  const shadow = host.attachShadow({ mode: "open" });
  const inside = shadow.appendChild(document.createElement("div"));
  addStyle("early", ".early { color: red }");
  const end = styleWhere(inside);
  const endAgain = styleWhere(inside);
  addStyle("late", ".late { color: red }");
  const names = rules(shadow).map((rule) => rule.split(" ")[0]);
  expect(names).toEqual([".early", ".late"]);
  expect(rules(document).map((rule) => rule.split(" ")[0])).toEqual(names);
  end();
  endAgain();
  addStyle("later", ".later { color: red }");
  expect(rules(shadow)).toHaveLength(2);
  expect(rules(document)).toHaveLength(3);
});

test("the page itself is no shadow root", () => {
  const before = document.adoptedStyleSheets.length;
  styleWhere(document.body)();
  expect(document.adoptedStyleSheets).toHaveLength(before);
});

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { STAGES } from "../../src/hosts/lab/inspect/cellCode";
import { DEFAULTS, readPreferences } from "../../src/hosts/lab/settings/readPreferences";
import { COLOURS, GUTTERS } from "../../src/hosts/lab/tokens";

const schema = JSON.parse(readFileSync(new URL("../../schema/settings.json", import.meta.url), "utf8"));
const { properties } = schema;

it("the settings of a user are read, and what is none of ours has its default", () => {
  const given = { stage: "trace", target: "cpu:8", panes: ["jaxpr", 3], marks: false, gutter: "flops", colours: "bars" };
  expect(readPreferences(given)).toEqual({ ...DEFAULTS, ...given, panes: ["jaxpr"] });
  expect(readPreferences({ stage: "fly", options: 3, gutter: "all", panes: "hlo", colours: true })).toEqual(DEFAULTS);
});

it("the settings editor offers what is read, with the same defaults", () => {
  const defaults = Object.fromEntries(Object.keys(properties).map((name) => [name, properties[name].default]));
  expect(defaults).toEqual(DEFAULTS);
  expect(properties.stage.enum).toEqual([...STAGES]);
  expect(properties.gutter.enum).toEqual([...GUTTERS]);
  expect(properties.colours.enum).toEqual([...COLOURS]);
});

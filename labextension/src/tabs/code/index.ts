import type { Tab } from "../tab";
import CodeView from "./view";

export default {
  title: "Code",
  hint: "source, jaxpr, StableHLO and optimised HLO, line by line",
  bare: true,
  component: CodeView,
} satisfies Tab;

import type { Tab } from "../tab";

export default {
  title: "Findings",
  hint: "what to change, the most to gain first",
} satisfies Tab;

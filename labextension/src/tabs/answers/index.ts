import type { Tab } from "../tab";

export default {
  title: "Answers",
  hint: "what bounds it, does it fit, and which lines to look at",
} satisfies Tab;

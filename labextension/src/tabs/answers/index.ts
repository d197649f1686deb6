import type { Tab } from "../tab";

export default {
  title: "Answers",
  hint: "what limits it, whether it fits, and which lines matter",
} satisfies Tab;

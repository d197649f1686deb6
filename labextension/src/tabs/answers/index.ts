import type { Tab } from "../tab";

export default {
  title: "Answers",
  hint: "what bounds it, whether it fits, and which lines matter",
} satisfies Tab;

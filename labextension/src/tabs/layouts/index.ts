import type { Tab } from "../tab";

export default {
  title: "Layouts",
  hint: "how arguments and results lie in memory, and the copies that change that",
  tall: true,
} satisfies Tab;

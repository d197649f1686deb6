import type { Tab } from "../tab";

export default {
  title: "Passes",
  hint: "what each XLA pass changed",
  tall: true,
} satisfies Tab;

import type { Tab } from "../tab";

export default {
  title: "Passes",
  hint: "what each of XLA's passes changed",
  tall: true,
} satisfies Tab;

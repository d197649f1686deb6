import type { Tab } from "../tab";

export default {
  title: "Shardings",
  hint: "which device holds which slice of each value",
  tall: true,
} satisfies Tab;

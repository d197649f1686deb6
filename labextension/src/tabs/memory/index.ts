import type { Tab } from "../tab";

export default {
  title: "Memory",
  hint: "memory over time, and whether it fits",
  tall: true,
} satisfies Tab;

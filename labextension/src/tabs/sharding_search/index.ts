import type { Tab } from "../tab";

export default {
  title: "Sharding search",
  hint: "which layout to take: all of them by time and memory",
  tall: true,
} satisfies Tab;

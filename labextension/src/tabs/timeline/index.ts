import type { Tab } from "../tab";

export default {
  title: "Timeline",
  hint: "what ran when, and where the device waited",
  tall: true,
} satisfies Tab;

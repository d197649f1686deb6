import type { Tab } from "../tab";

export default {
  title: "Timeline",
  hint: "what ran when, or is predicted to, and where the device waits",
  tall: true,
} satisfies Tab;

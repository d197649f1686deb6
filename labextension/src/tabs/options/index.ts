import type { Tab } from "../tab";

export default {
  title: "Options",
  hint: "XLA's flags, and what this call sets",
  tall: true,
} satisfies Tab;

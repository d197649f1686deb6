import type { Tab } from "../tab";

export default {
  title: "Memory",
  hint: "what lives when, and does it fit",
  tall: true,
} satisfies Tab;

import type { Tab } from "../tab";

export default {
  title: "Collectives",
  hint: "what the devices exchange, and why",
  tall: true,
} satisfies Tab;

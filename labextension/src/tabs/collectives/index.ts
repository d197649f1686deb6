import type { Tab } from "../tab";

export default {
  title: "Collectives",
  hint: "communication between devices, and what causes it",
  tall: true,
} satisfies Tab;

import type { Tab } from "../tab";

export default {
  title: "Cost",
  hint: "FLOPs and bytes, and what bounds the program",
  tall: true,
} satisfies Tab;

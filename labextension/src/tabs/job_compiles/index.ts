import type { Tab } from "../tab";

export default {
  title: "Compiles",
  hint: "what all processes compiled",
  tall: true,
} satisfies Tab;

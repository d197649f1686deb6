import type { Tab } from "../tab";

export default {
  title: "Compiles",
  hint: "what JAX compiled, and why again",
  tall: true,
} satisfies Tab;

import type { Tab } from "../tab";

export default {
  title: "Cache",
  hint: "JAX's persistent compilation cache",
  tall: true,
} satisfies Tab;

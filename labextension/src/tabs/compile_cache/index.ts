import type { Tab } from "../tab";

export default {
  title: "Cache",
  hint: "JAX's persistent compilation cache",
  tall: true,
  offline: true,
} satisfies Tab;

import type { Tab } from "../tab";

export default {
  title: "Effects",
  hint: "callbacks, ordered effects, host memory and work on the host",
  tall: true,
} satisfies Tab;

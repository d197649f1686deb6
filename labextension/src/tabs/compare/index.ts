import type { Tab } from "../tab";

export default {
  title: "Compare",
  hint: "this call's targets side by side",
} satisfies Tab;

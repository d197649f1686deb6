import type { Tab } from "../tab";

export default {
  title: "Compare",
  hint: "this call's targets, option sets or versions side by side",
} satisfies Tab;

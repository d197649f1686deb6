import type { Tab } from "../tab";

export default {
  title: "Dimensions",
  hint: "the program's named dimensions, and what splitting each alone costs",
  tall: true,
} satisfies Tab;

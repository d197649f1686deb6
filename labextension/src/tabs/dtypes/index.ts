import type { Tab } from "../tab";

export default {
  title: "Dtypes",
  hint: "where values are promoted or demoted",
  tall: true,
} satisfies Tab;

import type { Tab } from "../tab";
import CompareView from "./view";

export default {
  title: "Compare",
  hint: "this call's targets side by side",
  component: CompareView,
} satisfies Tab;

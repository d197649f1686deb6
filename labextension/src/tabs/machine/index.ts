import type { Tab } from "../tab";

export default {
  title: "Machine code",
  hint: "each kernel's LLVM IR, PTX or assembly, and its resources",
  tall: true,
} satisfies Tab;

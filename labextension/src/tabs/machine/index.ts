import type { Tab } from "../tab";

export default {
  title: "Machine code",
  hint: "each kernel's LLVM IR, PTX, assembly, and what it takes",
  tall: true,
} satisfies Tab;

export { MemoryView as component } from "./memoryView";

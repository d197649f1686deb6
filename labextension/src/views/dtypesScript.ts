export { DtypesView as component } from "./dtypesView";

export { CostView as component } from "./costView";

export { PassesView as component } from "./passesView";

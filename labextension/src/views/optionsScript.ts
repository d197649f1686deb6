export { OptionsView as component } from "./optionsView";

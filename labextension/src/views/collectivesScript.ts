export { CollectivesView as component } from "./collectivesView";

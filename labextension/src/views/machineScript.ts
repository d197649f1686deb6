export { MachineView as component } from "./machineView";

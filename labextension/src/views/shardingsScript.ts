export { ShardingsView as component } from "./shardingsView";

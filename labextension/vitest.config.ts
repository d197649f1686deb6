import { defineConfig } from "vitest/config";
import { generated } from "./tabs.mjs";

const modules: Record<string, string> = generated();

export default defineConfig({
  plugins: [
    {
      name: "generated",
      resolveId: (name) => (Object.hasOwn(modules, name) ? `\0${name}` : undefined),
      load: (id) => modules[id.slice(1)],
    },
  ],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    environment: "node",
    testTimeout: 60_000,
    // a third of the time of tests that draw went to collecting garbage: rows live longer than V8's young generation
    execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=64"],
  },
});

/** What the kernel says of inspections. */

export const stages = (...seconds: (number | null)[]) =>
  seconds.map((one, at) => ({ name: ["trace", "lower", "compile"][at], state: one === null ? "waiting" : "done", seconds: one }));

export const inspection = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  model: `model-${id}`,
  cell: `cell-${id}`,
  label: `In [${id}]`,
  name: "loss",
  signature: "loss(w: f32[128,512], x: f32[8,128]) -> f32[]",
  made: 1_700_000_000 + Number(id),
  status: "done",
  live: true,
  variables: [],
  targets: [{ target: "local", status: "done", stages: stages(0.004, 0.003, 0.081), error: null }],
  memory: [
    { part: "documents", bytes: 5000, reason: null },
    { part: "arguments", bytes: 266_000, reason: null },
    { part: "executable", bytes: null, reason: "not counted yet" },
  ],
  ...more,
});

import { expect, it, vi } from "vitest";
import { KernelLinks } from "../../src/hosts/lab/kernel/kernelLinks";
import { FakeKernel } from "./fakeKernel";

const linksOf = (...kernels: FakeKernel[]) => new KernelLinks(() => kernels.map((kernel) => kernel.connection));

it("a kernel without JAXStage is asked silently and has no link", async () => {
  const kernel = new FakeKernel();
  expect(await linksOf(kernel).of(kernel.connection)).toBeNull();
  expect(kernel.comms).toHaveLength(0);
  expect(kernel.executed).toMatchObject([{ code: "", silent: true, store_history: false }]);
});

it("a kernel of another language runs nothing of ours", async () => {
  const kernel = new FakeKernel("r", "R");
  expect(await linksOf(kernel).of(kernel.connection)).toBeNull();
  await expect(linksOf(kernel).of(kernel.connection, true)).rejects.toThrow("JAXStage needs a Python kernel.");
  expect(kernel.executed).toEqual([]);
});

it("all notebooks of a kernel share one link, which says hello", async () => {
  const kernel = new FakeKernel();
  kernel.isLoaded = true;
  const other = new FakeKernel(kernel.id);
  other.handleComms = false;
  const links = linksOf(other, kernel);
  other.isLoaded = true;
  const [first, second] = await Promise.all([links.of(kernel.connection), links.of(other.connection)]);
  expect(first).toBe(second);
  expect(kernel.comms).toHaveLength(1);
  expect(kernel.requests).toEqual(["hello"]);
});

it("says so where nothing open has the kernel's comms, and blames no version", async () => {
  const kernel = new FakeKernel();
  kernel.handleComms = false;
  await expect(linksOf(kernel).of(kernel.connection, true)).rejects.toThrow(/^This notebook shares its kernel .* reload the page/);
  expect(await linksOf(kernel).of(kernel.connection)).toBeNull();
});

it("two kernels have a link each", async () => {
  const [one, two] = [new FakeKernel("1"), new FakeKernel("2")];
  one.isLoaded = two.isLoaded = true;
  const links = linksOf(one, two);
  expect(await links.of(one.connection)).not.toBe(await links.of(two.connection));
  two.restart();
  expect((await links.of(one.connection))?.isDisposed).toBe(false);
});

it("loads JAXStage where that is asked for, leaving no history", async () => {
  const kernel = new FakeKernel();
  const link = await linksOf(kernel).of(kernel.connection, true);
  expect(link).not.toBeNull();
  expect(kernel.executed.every(({ silent, store_history }) => silent && !store_history)).toBe(true);
});

it("says in one line that JAXStage is not installed", async () => {
  const kernel = new FakeKernel();
  kernel.isInstalled = false;
  await expect(linksOf(kernel).of(kernel.connection, true)).rejects.toThrow(/^JAXStage is not installed in this notebook's kernel/);
});

it("a restart ends what waits and the link; the next has a comm of its own", async () => {
  const kernel = new FakeKernel();
  kernel.isLoaded = true;
  const links = linksOf(kernel);
  const link = await links.of(kernel.connection);
  kernel.answer = () => null;
  const waiting = link?.request("inspections", {});
  kernel.restart();
  await expect(waiting).rejects.toThrow("The kernel did not answer.");
  expect(link?.isDisposed).toBe(true);
  await expect(link?.request("inspections", {})).rejects.toThrow("The kernel did not answer.");
  expect(await links.of(kernel.connection)).toBeNull();
  expect(await links.of(kernel.connection, true)).not.toBe(link);
  expect(kernel.comms).toHaveLength(2);
});

it("the kernel may close the comm, when JAXStage is unloaded", async () => {
  const kernel = new FakeKernel();
  kernel.isLoaded = true;
  const links = linksOf(kernel);
  const link = await links.of(kernel.connection);
  kernel.isLoaded = false;
  kernel.comms[0]?.onClose({});
  expect(link?.isDisposed).toBe(true);
  expect(await links.of(kernel.connection)).toBeNull();
});

it("who asks at once after JAXStage was loaded anew gets one link", async () => {
  const kernel = new FakeKernel();
  kernel.isLoaded = true;
  const links = linksOf(kernel);
  await links.of(kernel.connection);
  kernel.comms[0]?.onClose({});
  const [first, second] = await Promise.all([links.of(kernel.connection), links.of(kernel.connection)]);
  expect(first?.isDisposed).toBe(false);
  expect(first).toBe(second);
  expect(kernel.comms).toHaveLength(2);
});

it("copies buffers, refuses in the kernel's words, and tells of changes", async () => {
  const kernel = new FakeKernel();
  kernel.isLoaded = true;
  const link = await linksOf(kernel).of(kernel.connection);
  const shared = new Uint8Array([9, 1, 2, 3, 9]);
  kernel.answer = () => ({ data: { result: { n: 1 } }, buffers: [new DataView(shared.buffer, 1, 3)] });
  const reply = await link?.request("inspections", {});
  expect(reply?.result).toEqual({ n: 1 });
  expect([...new Uint8Array(reply?.buffers[0] as ArrayBuffer)]).toEqual([1, 2, 3]);
  kernel.answer = () => ({ data: { error: { kind: "failed", message: "There is no inspection 7." } } });
  await expect(link?.request("free", { id: 7 })).rejects.toThrow("There is no inspection 7.");
  const changed = vi.fn();
  const listening = link?.onChange(changed);
  kernel.comms[0]?.deliver({ kind: "notice", what: "inspections" });
  kernel.comms[0]?.deliver({ kind: "notice", what: "something else" });
  listening?.dispose();
  kernel.comms[0]?.deliver({ kind: "notice", what: "inspections" });
  expect(changed).toHaveBeenCalledTimes(1);
});

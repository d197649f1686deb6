import { describe, expect, it, vi } from "vitest";
import { PAGE, PagedText, type Pages } from "../../src/model/pagedText";
import { FullText, MAX_HITS } from "../../src/model/text";

const full = (text: string) => new FullText(new TextEncoder().encode(text));

describe("a whole document", () => {
  it("gives its lines, empty ones and wide characters included", () => {
    const text = full("a\n\n%é😀 <script>\nlast");
    expect(text.length).toBe(4);
    expect([0, 1, 2, 3].map((row) => text.line(row))).toEqual(["a", "", "%é😀 <script>", "last"]);
    expect(text.line(4)).toBeUndefined();
  });

  it("finds every hit with its row and column", async () => {
    const hits = await full("foo Foo\nbar\nxfoo").search("foo", true);
    expect([...hits.rows]).toEqual([0, 2]);
    expect([...hits.columns]).toEqual([0, 1]);
    expect((await full("foo Foo\nbar\nxfoo").search("fOO", false)).total).toBe(3);
  });

  it("finds hits that do not overlap, as the kernel does", async () => {
    const hits = await full("aaaa\naa a").search("aa", true);
    expect([[...hits.rows], [...hits.columns], hits.total]).toEqual([[0, 0, 1], [0, 2, 0], 3]);
  });

  it("counts right where lower case has another length", async () => {
    const hits = await full("İİ foo\nFOO").search("foo", false);
    expect([...hits.rows]).toEqual([0, 1]);
    expect([...hits.columns]).toEqual([3, 0]);
  });

  it("searches across chunks and keeps an exact total beyond what it lists", async () => {
    const line = `${"x".repeat(97)} q`;
    const text = full(new Array(60_000).fill(line).join("\n"));
    const hits = await text.search("q", true);
    expect(hits.total).toBe(60_000);
    expect(hits.rows.length).toBe(MAX_HITS);
    expect(hits.rows.at(-1)).toBe(MAX_HITS - 1);
    expect((await text.search("nothing", true)).total).toBe(0);
  });
});

function pages(_length: number): Pages & { asked: [number, number][] } {
  const asked: [number, number][] = [];
  return {
    asked,
    page: async (start, end) => {
      asked.push([start, end]);
      return { result: { lines: Array.from({ length: end - start }, (_, i) => `line ${start + i}`) }, buffers: [] };
    },
    search: async () => ({ result: { total: 3 }, buffers: [Int32Array.of(5).buffer, Int32Array.of(1).buffer] }),
  };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("a paged document", () => {
  it("fetches what is in view first and then the pages beside it", async () => {
    const fetch = pages(100 * PAGE);
    const text = new PagedText(100 * PAGE, fetch);
    text.want(50 * PAGE, 50 * PAGE + 40);
    expect(text.line(50 * PAGE)).toBeUndefined();
    await settled();
    expect(text.line(50 * PAGE + 3)).toBe(`line ${50 * PAGE + 3}`);
    expect(fetch.asked).toEqual([
      [50 * PAGE, 51 * PAGE],
      [51 * PAGE, 53 * PAGE],
      [48 * PAGE, 50 * PAGE],
    ]);
    text.want(50 * PAGE + 9, 50 * PAGE + 60);
    expect(fetch.asked.length).toBe(3);
  });

  it("asks for no more than there is", async () => {
    const fetch = pages(PAGE + 10);
    const text = new PagedText(PAGE + 10, fetch);
    text.want(0, 30);
    await settled();
    expect(fetch.asked).toEqual([
      [0, PAGE],
      [PAGE, PAGE + 10],
    ]);
    expect(text.line(PAGE + 9)).toBe(`line ${PAGE + 9}`);
  });

  it("shows a failure, keeps what it has, and can be asked again", async () => {
    const fetch = pages(10 * PAGE);
    const text = new PagedText(10 * PAGE, fetch);
    text.want(0, 10);
    await settled();
    const works = fetch.page;
    fetch.page = vi.fn(() => Promise.reject(new Error("The kernel did not answer.")));
    text.want(9 * PAGE, 9 * PAGE + 10);
    await settled();
    expect(text.problem).toBe("The kernel did not answer.");
    expect(text.line(0)).toBe("line 0");
    fetch.page = works;
    text.retry();
    await settled();
    expect(text.problem).toBeNull();
    expect(text.line(9 * PAGE)).toBe(`line ${9 * PAGE}`);
  });

  it("takes hits from the kernel", async () => {
    const hits = await new PagedText(10, pages(10)).search("q", true);
    expect([hits.total, [...hits.rows], [...hits.columns]]).toEqual([3, [5], [1]]);
  });

  it("copies by pages that the kernel is willing to send", async () => {
    const fetch = pages(12_000);
    const all = await new PagedText(12_000, fetch).all();
    expect(all.split("\n").length).toBe(12_000);
    expect(Math.max(...fetch.asked.map(([start, end]) => end - start))).toBeLessThanOrEqual(5000);
    await expect(new PagedText(1e6, fetch).all()).rejects.toThrow("too many to copy");
  });
});

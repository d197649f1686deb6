const LIMIT = 512 * 1024 * 1024;

const SLICE = 16 * 1024;

/** The first byte of data as zlib writes it. */
const ZLIB = 0x78;

export class TooLarge extends Error {}

/** Unpacks gzip, or zlib as saved reports have it; refuses more than `limit` bytes, for the payload is not trusted. */
export async function gunzip(data: ArrayBuffer, limit = LIMIT): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await unpack(data, (chunk) => {
    size += chunk.byteLength;
    if (size > limit) throw new TooLarge(`a reply unpacks to more than ${limit} bytes`);
    chunks.push(chunk);
  });
  return joined(chunks, size);
}

/** Gives `take` one chunk after another, and holds none; where `take` throws, the rest is not unpacked. */
export async function unpack(data: ArrayBuffer, take: (chunk: Uint8Array) => void): Promise<void> {
  const format = new Uint8Array(data)[0] === ZLIB ? "deflate" : "gzip";
  const reader = slices(data).pipeThrough(new DecompressionStream(format)).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    try {
      take(value);
    } catch (error) {
      void reader.cancel().catch(() => undefined);
      throw error;
    }
  }
}

/** In small parts, for all that one unpacks to is made at once. */
function slices(data: ArrayBuffer): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  const pull = (to: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
    if (at >= data.byteLength) return to.close();
    to.enqueue(new Uint8Array(data, at, Math.min(SLICE, data.byteLength - at)));
    at += SLICE;
  };
  return new ReadableStream({ pull });
}

function joined(chunks: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

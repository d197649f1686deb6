const LIMIT = 512 * 1024 * 1024;

/** The first byte of data as zlib writes it. */
const ZLIB = 0x78;

/** Unpacks gzip, or zlib as saved reports have it; refuses more than `limit` bytes, for the payload is not trusted. */
export async function gunzip(data: ArrayBuffer, limit = LIMIT): Promise<Uint8Array<ArrayBuffer>> {
  const format = new Uint8Array(data)[0] === ZLIB ? "deflate" : "gzip";
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream(format));
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joined(chunks, size);
    size += value.byteLength;
    if (size > limit) {
      void reader.cancel();
      throw new Error(`a reply unpacks to more than ${limit} bytes`);
    }
    chunks.push(value);
  }
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

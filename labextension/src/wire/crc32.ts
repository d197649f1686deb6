/** CRC-32 as zlib computes it, by which the kernel names a text. */

const POLYNOMIAL = 0xedb88320;
let table: Uint32Array | null = null;

function entry(byte: number): number {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
}

/** Of the text in UTF-8. */
export function crc32(text: string): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => entry(byte));
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}

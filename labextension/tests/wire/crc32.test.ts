import { crc32 as ofZlib } from "node:zlib";
import { expect, it } from "vitest";
import { crc32 } from "../../src/wire/crc32";

it.each(["", "123456789", "h = jnp.tanh(x @ w)\n", "λ → 𝒳\r\n\ttab", "\ud800"])("is that of zlib over UTF-8: %j", (text) => {
  expect(crc32(text)).toBe(ofZlib(text));
});

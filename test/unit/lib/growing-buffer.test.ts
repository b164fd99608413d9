import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { GrowingBuffer, readWhole } from '../../../src/lib/growing-buffer.ts';

const read = (parts: readonly Buffer[], maxBytes: number): Promise<string> =>
  readWhole(Readable.from(parts), maxBytes, () => new Error('too long')).then(String);
const single = (count: number): readonly Buffer[] => Array.from({ length: count }, () => Buffer.from('x'));

it('a body is read unchanged, up to its limit', async () => {
  expect(await read([], 10)).toBe('');
  expect(await read([Buffer.from('ab'), Buffer.from('c'), Buffer.alloc(0), Buffer.from('defg')], 7)).toBe('abcdefg');
  expect(await read([Buffer.alloc(5_000, 'a'), Buffer.alloc(9_000, 'b')], 14_000)).toBe(
    'a'.repeat(5_000) + 'b'.repeat(9_000),
  );
});

it('a body beyond its limit is refused', async () => {
  await expect(read([Buffer.from('abcd'), Buffer.from('efgh')], 7)).rejects.toThrow('too long');
});

it('a body in very many parts is refused long before its byte limit', async () => {
  expect(await read(single(4_000), 1_048_576)).toBe('x'.repeat(4_000));
  await expect(read(single(4_400), 1_048_576)).rejects.toThrow('too long');
});

it('a body of single bytes takes at most twice its size', () => {
  const body = new GrowingBuffer(16_777_216);
  for (const part of single(60_000)) body.add(part);
  expect(body.bytes).toHaveLength(60_000);
  expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(120_000);
});

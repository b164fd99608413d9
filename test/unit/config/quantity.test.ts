import { describe, expect, it } from 'vitest';
import { parseByteSize } from '../../../src/config/readers.ts';

describe('a size', () => {
  it.each([
    ['512B', 512],
    ['500KB', 500_000],
    ['64KiB', 65_536],
    ['8MiB', 8_388_608],
    ['8 MiB', 8_388_608],
    ['1.5GiB', 1_610_612_736],
    ['2GB', 2_000_000_000],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes);
  });

  it.each(['', '8', '8M', '8mib', '8 MiB ', 'MiB', '-1B', '1e3B', '0x10B', '8TiB'])('refuses %j', (text) => {
    expect(parseByteSize(text)).toBeUndefined();
  });
});

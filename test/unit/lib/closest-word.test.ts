import { describe, expect, it } from 'vitest';
import { closestWord } from '../../../src/lib/text.ts';

describe('the closest word', () => {
  it.each([
    ['timout', 'timeout'],
    ['timeouts', 'timeout'],
    ['maxStale', 'max_stale'],
    ['max-stale', 'max_stale'],
    ['URL', 'url'],
    ['api_key_fil', 'api_key_file'],
  ])('to %s is %s', (word, meant) => {
    expect(closestWord(word, ['api_key', 'api_key_file', 'max_stale', 'timeout', 'url'])).toBe(meant);
  });

  it.each([
    ['applaince', 'appliances'],
    ['fingerprint', 'fingerprint_sha256'],
    ['Fingerprint', 'fingerprint_sha256'],
    ['restart', 'restart-farm'],
  ])('to %s is %s: two letters changed places, or the end is missing', (word, meant) => {
    expect(closestWord(word, ['appliances', 'appliance_files', 'fingerprint_sha256', 'restart-farm'])).toBe(meant);
  });

  it.each(['applian', 'fin'])('is not guessed for %s, which is ambiguous or too short', (word) => {
    expect(closestWord(word, ['appliances', 'appliance_files', 'fingerprint_sha256'])).toBeUndefined();
  });

  it.each(['interval', 'ip', '', 'x'.repeat(1_000_000)])('is not guessed for %.9s', (word) => {
    expect(closestWord(word, ['timeout', 'url'])).toBeUndefined();
  });
});

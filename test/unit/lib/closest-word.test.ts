import { expect, it } from 'vitest';
import { closestWord } from '../../../src/lib/text.ts';

const words = 'api_key api_key_file appliances appliance_files fingerprint_sha256 max_stale restart-farm timeout url';

it.each([
  ['timout', 'timeout'],
  ['timeouts', 'timeout'],
  ['maxStale', 'max_stale'],
  ['max-stale', 'max_stale'],
  ['URL', 'url'],
  ['api_key_fil', 'api_key_file'],
  // Two letters changed places.
  ['applaince', 'appliances'],
  // The end is missing.
  ['fingerprint', 'fingerprint_sha256'],
  ['Fingerprint', 'fingerprint_sha256'],
  ['restart', 'restart-farm'],
])('the closest word to %s is %s', (word, meant) => {
  expect(closestWord(word, words.split(' '))).toBe(meant);
});

it.each([
  ['a beginning', 'applian'],
  ['a short word', 'fin'],
  ['another word', 'interval'],
  ['two letters', 'ip'],
  ['nothing', ''],
  ['a million letters', 'x'.repeat(1_000_000)],
])('the closest word is not guessed for %s', (_, word) => {
  expect(closestWord(word, words.split(' '))).toBeUndefined();
});

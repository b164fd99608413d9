import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

// Keys and configurations that README.md, docs/ and deploy/ have people write into a clone.
const written = [
  'lb-paris.key',
  'alice.token',
  'zlb.yml',
  'keys/lb-paris',
  'deploy/.env',
  'deploy/zlb.yml',
  'deploy/secrets/lb-paris',
];

describe.skipIf(!existsSync('.git'))('a file that the documents have people write into a clone', () => {
  it.each(written)('is not committed by mistake: %s', (file) => {
    expect(execFileSync('git', ['check-ignore', '--no-index', file], { encoding: 'utf8' }).trim()).toBe(file);
  });
});

import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { isRecord } from '../../../src/lib/check.ts';
import { loadText, refusal } from './given-config.ts';

const token = `zlb_${'Ab0_'.repeat(10)}xyz`;

const full = {
  appliances: [{ name: 'lb', url: '192.0.2.10', api_key: 'k', admin_api_key: 'k', labels: { site: 'paris' } }],
  admin: {
    listen_address: '127.0.0.1:9445',
    insecure_plaintext: 'false',
    tls: { cert_file: 'a', key_file: 'b', client_ca_file: 'c' },
    journal_file: 'journal.db',
    timeout: '1s',
    download_bytes: '1MiB',
    tokens: [
      {
        name: 'alice',
        sha256: 'ab'.repeat(32),
        role: 'admin',
        appliances: ['lb'],
        expires: '2027-01-01',
        allow: ['readFarm'],
        deny: ['deleteFarm'],
        skip_confirmation: 'false',
      },
    ],
  },
};

/** Every version of a value in which one part was replaced. */
function* replaced(whole: unknown, by: unknown): Generator {
  yield by;
  if (Array.isArray(whole)) {
    for (const [index, part] of whole.entries()) for (const other of replaced(part, by)) yield whole.with(index, other);
  } else if (isRecord(whole)) {
    yield { ...whole, [token]: 'x' };
    for (const [key, part] of Object.entries(whole))
      for (const other of replaced(part, by)) yield { ...whole, [key]: other };
  }
}

it.each([
  ['as a value', token],
  ['in a list', [token]],
  ['as a key', { [token]: 'x' }],
  ['in the braces of a variable', `\${${token}}`],
])('a misplaced token is not repeated in the refusal %s', async (_what, by) => {
  const versions = [...replaced(full, by)];

  const refusals = await Promise.all(versions.map((version) => refusal(loadText(stringify(version)))));

  expect(versions.length).toBeGreaterThan(30);
  expect(refusals.flat().filter((line) => line.includes('zlb_'))).toEqual([]);
});

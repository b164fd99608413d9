import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksToRun } from './documents.ts';
import { readerOf } from './yaml-readers.ts';
import { givenFolder } from '../support/folder.ts';
import { makeMaterial } from '../support/tls-server.ts';

const blocks = blocksToRun('yaml').map((block) => ({ ...block, reader: readerOf(block.text) }));
const served = makeMaterial({ name: 'exporter.example.org' });

it.each(blocks)('the YAML at $file:$line is accepted by $reader.name', async ({ text, reader }) => {
  const folder = givenFolder();
  for (const [name, content] of Object.entries({ certificate: served.cert, key: served.key, secret: 'a-secret' }))
    writeFileSync(join(folder, name), content);

  expect(await reader.complaint(whole(text, folder), folder)).toBe('');
});

/** The text with what its reader has to fill in: files that are there, a fingerprint, a digest. */
function whole(text: string, folder: string): string {
  const contents: Readonly<Record<string, string>> = {
    cert_file: 'certificate',
    key_file: 'key',
    ca_file: 'certificate',
    client_ca_file: 'certificate',
    api_key_file: 'secret',
    admin_api_key_file: 'secret',
    password_file: 'secret',
    credentials_file: 'secret',
    journal_file: 'journal.db',
  };
  return text
    .replaceAll(/\b(\w+_file): *(["']?)[^\s,}"']+\2/g, (all, key: string) =>
      key in contents ? `${key}: ${join(folder, contents[key] ?? '')}` : all,
    )
    .replaceAll(/'AB:CD:…'|"\$\{\w*FINGERPRINT\}"|'<digest>'/g, `'${'ab'.repeat(32)}'`)
    .replaceAll(/'<digest of (\w)\w*>'/g, (_, initial: string) => `'${initial.charCodeAt(0).toString(16).repeat(32)}'`);
}

import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CertificateParts, createCertificate, type Identity } from '../../../../simulator/certificate.ts';
import { createDeliver } from '../../../../src/admin/recipes/deliver.ts';
import { createFileAccess, type FileAccess } from '../../../../src/lib/file-access.ts';
import { givenFolder } from '../../../support/folder.ts';
import { dayMs, issue } from '../../../support/issue.ts';
import { givenRecipe } from './given-recipe.ts';

/** The content of files, and where links lead, by name. */
type Entries = Readonly<Record<string, string>>;

/** A folder of renewed certificates, for `old.pem` of an appliance without farms. */
async function givenRenewed(
  files: Entries,
  { cert }: Pick<Identity, 'cert'> = issue({ from: -60, until: 29 }),
  access: FileAccess = createFileAccess(),
) {
  const folder = givenFolder();
  const put = async (entries: Entries, write: (text: string, path: string) => Promise<void>): Promise<void> => {
    for (const [name, text] of Object.entries(entries)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await write(text, join(folder, name));
    }
  };
  await put(files, (text, path) => writeFile(path, text));
  /** Resolves to the sentences with which the plan is refused. */
  const refusal = async (): Promise<string> => {
    const calls = { read: () => Promise.resolve({ params: [] } as never), readText: () => Promise.resolve(cert) };
    const planned = createDeliver({ path: folder, access }).plan(
      givenRecipe({ calls, params: { certificate: 'old.pem' }, now: Date.now }),
    );
    return await planned.then(
      () => 'It was planned.',
      ({ title, remedy }: { readonly title: string; readonly remedy: string }) => `${title}. ${remedy}`,
    );
  };
  return { folder, link: (links: Entries) => put(links, symlink), refusal };
}

const { cert, key } = issue();
const shop = { 'shop/fullchain.pem': cert, 'shop/privkey.pem': key };
const stored = { 'stored/1': cert, 'stored/2': key };
const others = (count: number, name: (at: number) => string, text = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), text]));

it.each<readonly [string, Entries, Entries]>([
  ['in a folder of its own', shop, {}],
  ['in the folder itself, by links', stored, { 'fullchain.pem': 'stored/1', 'privkey.pem': 'stored/2' }],
  ['as lego stores it, by links', stored, { 'shop.crt': 'stored/1', 'shop.key': 'stored/2' }],
  [
    'in live/NAME of certbot',
    stored,
    { 'live/shop/fullchain.pem': '../../stored/1', 'live/shop/privkey.pem': '../../stored/2' },
  ],
  ['among many other files', { ...others(1_200, (at) => `${at}.json`), ...shop }, {}],
])('a newer certificate is found %s', async (_, files, links) => {
  const { link, refusal } = await givenRenewed(files);
  await link(links);

  expect(await refusal()).toMatch(/^No farm presents old\.pem/);
});

it('a newer certificate replaces one with an empty subject, for the same names', async () => {
  const made = (from: number) =>
    createCertificate({
      subject: {},
      altNames: ['DNS:a.test', 'DNS:b.test'],
      notBefore: new Date(Date.now() + from * dayMs),
      notAfter: new Date(Date.now() + (from + 90) * dayMs),
    });
  const newer = made(-1);
  const { refusal } = await givenRenewed({ 'a/fullchain.pem': newer.cert, 'a/privkey.pem': newer.key }, made(-60));

  expect(await refusal()).toMatch(/^No farm presents old\.pem/);
});

describe('the search for a newer certificate', () => {
  const other = issue();
  const sooner = issue({ from: -2, until: 3 });
  const pair = (made: Identity) => ({ 'shop/fullchain.pem': made.cert, 'shop/privkey.pem': made.key });
  const none = /has no newer certificate for old\.pem/;

  it.each<readonly [string, Entries, RegExp]>([
    ['if it ends sooner', pair(issue({ from: -61, until: 20 })), none],
    ['if it is not valid yet', pair(issue({ from: 1 })), none],
    ['if it is for other names', pair(issue({ names: ['blog.example.com'] })), none],
    [
      'if it has another type of key',
      pair(issue({ rsa: true })),
      /fullchain\.pem has an RSA key, old\.pem an ECDSA key/,
    ],
    ['too deep in the folder', { 'a/b/c/d.crt': cert }, /two levels of folders in it/],
    ['without its key', { 'shop/fullchain.pem': cert }, /privkey\.pem cannot be read \(ENOENT\)/],
    ['with the key of another', { ...shop, 'shop/privkey.pem': other.key }, /cannot be delivered/],
    ['in a damaged file', { 'shop/fullchain.pem': 'no PEM' }, /contains no PEM certificate/],
    ['in a file without end', { 'shop/fullchain.pem': 'x'.repeat(2_000_000) }, /longer than/],
    [
      'if the key is that of a certificate behind it, which ends sooner',
      { 'shop/fullchain.pem': cert + sooner.cert, 'shop/privkey.pem': sooner.key },
      /privkey\.pem is not the key of the first certificate in/,
    ],
    [
      'in files with names that are not names',
      { 'a\n\u202e/fullchain.pem': 'no PEM' },
      /\/a \/fullchain\.pem contains no PEM/,
    ],
    ['in more files than a sentence can name', others(100, (at) => `${at}.crt`, 'no PEM'), /; and 95 other files\./],
  ])('finds none %s', async (_, files, because) => {
    const { refusal } = await givenRenewed(files);

    expect(await refusal()).toMatch(because);
  });

  it('finds none in a folder of other files', async () => {
    const { link, refusal } = await givenRenewed(others(100, (at) => `0/${at}.txt`));
    await link(others(100, (at) => `link-${at}`, '0'));

    expect(await refusal()).toMatch(/has more than 10000 files/);
  });

  it('finds none in a missing folder', async () => {
    const { folder, refusal } = await givenRenewed({});
    await rm(folder, { recursive: true });

    expect(await refusal()).toMatch(/cannot be read \(ENOENT\).*admin\.approvals\.certificates_folder/);
  });

  it('finds none in endless files, or in links to themselves', async () => {
    const { folder, link, refusal } = await givenRenewed({});
    // A regular file of the size 0, of which 757 MB were read.
    await link({ 'map.crt': '/proc/self/pagemap', 'zero.crt': '/dev/zero', loop: 'loop' });
    execFileSync('mkfifo', [join(folder, 'pipe.crt')]);

    const said = await refusal();

    expect(said).toMatch(/map\.crt cannot be read \((?:EINVAL|it is longer than 65536 bytes)\)/);
    expect(said).toMatch(/zero\.crt is a device/);
    expect(said).toMatch(/pipe\.crt is a named pipe/);
    expect(said).toMatch(/loop cannot be read \(ELOOP\)/);
  });

  it.each<readonly [string, Pick<CertificateParts, 'subject' | 'altNames'>]>([
    ['has no name', { subject: { OU: 'nobody' } }],
    ['has an empty name', { subject: { CN: '' } }],
    ['is for all names below one', { subject: { CN: '.example.com' }, altNames: ['DNS:.example.com'] }],
  ])('finds none for a certificate that %s', async (_, named) => {
    const [notBefore, notAfter] = [-60, 29].map((days) => new Date(Date.now() + days * dayMs)) as [Date, Date];
    const { refusal } = await givenRenewed(shop, createCertificate({ ...named, notBefore, notAfter }));

    expect(await refusal()).toMatch(none);
  });
});

it('a folder that hangs is refused after ten seconds, with a remedy', async () => {
  const hung = Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
  const { folder, refusal } = await givenRenewed(shop, undefined, () => Promise.reject(hung));

  expect(await refusal()).toContain(
    `${folder} cannot be read (nothing came within 10 s; check the disk or the network drive that it is on)`,
  );
});

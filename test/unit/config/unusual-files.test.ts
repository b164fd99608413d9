import { once } from 'node:events';
import { symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadSettings, refusal } from './given-config.ts';
import { givenFolder } from '../../support/folder.ts';
import { feed } from '../../support/programs.ts';
import { makeMaterial } from '../../support/tls-server.ts';

const hint = 'Give the path of a file the exporter may read, best an absolute one';
const hintForConfiguration = 'Give --config.file (or ZLB_CONFIG_FILE) the path of a YAML file';

it.each([
  ['a named pipe', (path: string) => feed('mkfifo', [path], Buffer.alloc(0))],
  ['a socket', givenSocket],
  ['a device', (path: string) => symlink('/dev/zero', path)],
  ['a folder', (path: string) => symlink(tmpdir(), path)],
])('a key file, a CA file and a configuration are refused when they are %s', async (kind, make) => {
  const folder = givenFolder();
  await make(join(folder, 'it'));

  const refused = await refusal(load(folder, 'api_key_file: it, tls: { ca_file: it }'));

  expect(refused).toEqual([
    expect.stringContaining(`appliances[0].api_key_file: cannot be read: it is ${kind}, not a file. ${hint}`),
    expect.stringContaining(`appliances[0].tls.ca_file: cannot be read: it is ${kind}, not a file. ${hint}`),
  ]);
  expect(await refusal(loadSettings({ file: join(folder, 'it'), env: {} }))).toEqual([
    `it: cannot be read: it is ${kind}, not a file. ${hintForConfiguration}`,
  ]);
});

it('a key file, a CA file and a configuration are refused when they are far too long', async () => {
  const folder = givenFolder();
  await writeFile(join(folder, 'key'), 'k'.repeat(64 * 1_024 + 1));
  await writeFile(join(folder, 'long'), '');
  await truncate(join(folder, 'long'), 1_024 * 1_024 + 1);

  const refused = await refusal(load(folder, 'api_key_file: key, tls: { ca_file: long }'));

  expect(refused).toEqual([
    expect.stringContaining(`api_key_file: cannot be read: it is larger than 64 KiB. ${hint}`),
    expect.stringContaining(`ca_file: cannot be read: it is larger than 1 MiB. ${hint}`),
  ]);
  expect(await refusal(loadSettings({ file: join(folder, 'long'), env: {} }))).toEqual([
    `long: cannot be read: it is larger than 1 MiB. ${hintForConfiguration}`,
  ]);
});

it('a key file and a CA file may have the maximum length, and be symbolic links as in Kubernetes', async () => {
  const folder = givenFolder();
  const { cert } = makeMaterial();
  await writeFile(join(folder, 'mounted-key'), `f1x7ure${'\n'.repeat(64 * 1_024 - 7)}`);
  await writeFile(join(folder, 'mounted-ca'), cert.padEnd(1_024 * 1_024));
  await symlink('mounted-key', join(folder, 'key'));
  await symlink('mounted-ca', join(folder, 'ca'));

  const { appliances } = await load(folder, 'api_key_file: key, tls: { ca_file: ca }');

  expect(appliances[0]?.apiKey.reveal()).toBe('f1x7ure');
  expect(appliances[0]?.tls.ca).toBe(`${cert.trim()}\n`);
});

async function givenSocket(path: string): Promise<void> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

async function load(folder: string, rest: string) {
  const file = join(folder, 'zlb.yml');
  await writeFile(file, `appliances: [{ name: lb, url: 192.0.2.10, ${rest} }]`);
  return loadSettings({ file, env: {} });
}

import { execFile } from 'node:child_process';
import { symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadSettings, refusal } from './given-config.ts';
import { givenFolder } from '../../support/folder.ts';
import { makeMaterial } from '../../support/tls-server.ts';

const hint = 'Give the path of a file the exporter may read, best an absolute one';

describe('a key file or CA file', () => {
  it.each([
    ['a named pipe', givenPipe, 'it is a named pipe, not a file'],
    ['a socket', givenSocket, 'it is a socket, not a file'],
    ['a device without end', (path: string) => symlink('/dev/zero', path), 'it is a device, not a file'],
    ['a folder', (path: string) => symlink(tmpdir(), path), 'it is a folder, not a file'],
    [
      'a link to nothing',
      (path: string) => symlink('/nowhere/at/all', path),
      'there is no such file; a relative path starts at /\\S+',
    ],
  ])('is refused when it is %s', async (_what, make, because) => {
    const folder = givenFolder();
    await make(join(folder, 'it'));

    const refused = await refusal(load(folder, 'api_key_file: it, tls: { ca_file: it }'));

    expect(refused).toEqual([
      expect.stringMatching(`appliances\\[0\\]\\.api_key_file: cannot be read: ${because}\\. ${hint}$`),
      expect.stringMatching(`appliances\\[0\\]\\.tls\\.ca_file: cannot be read: ${because}\\. ${hint}$`),
    ]);
  });

  it('is refused when it is far too long', async () => {
    const folder = givenFolder();
    await writeFile(join(folder, 'key'), 'k'.repeat(64 * 1_024 + 1));
    await writeFile(join(folder, 'ca'), ' '.repeat(1_024 * 1_024 + 1));

    const refused = await refusal(load(folder, 'api_key_file: key, tls: { ca_file: ca }'));

    expect(refused).toEqual([
      expect.stringContaining(`api_key_file: cannot be read: it is larger than 64 KiB. ${hint}`),
      expect.stringContaining(`ca_file: cannot be read: it is larger than 1 MiB. ${hint}`),
    ]);
  });

  it('may have the maximum length, and be a symbolic link as in Kubernetes', async () => {
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
});

it.each([
  ['a named pipe', givenPipe, 'it is a named pipe, not a file'],
  ['a device without end', (path: string) => symlink('/dev/zero', path), 'it is a device, not a file'],
  ['a folder', (path: string) => symlink(tmpdir(), path), 'it is a folder, not a file'],
  ['far too long', givenLongFile, 'it is larger than 1 MiB'],
])('a configuration file is refused when it is %s', async (_what, make, because) => {
  const file = join(givenFolder(), 'it.yml');
  await make(file);

  const refused = await refusal(loadSettings({ file, env: {} }));

  expect(refused).toEqual([`it.yml: cannot be read: ${because}. Give --config.file the path of a YAML file`]);
});

async function givenPipe(path: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', 'mkfifo "$0"', path]);
}

async function givenSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  onTestFinished(async () => {
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
}

async function givenLongFile(path: string): Promise<void> {
  await writeFile(path, '#');
  await truncate(path, 1_024 * 1_024 + 1);
}

async function load(folder: string, rest: string) {
  const file = join(folder, 'zlb.yml');
  await writeFile(file, `appliances: [{ name: lb, url: 192.0.2.10, ${rest} }]`);
  return loadSettings({ file, env: {} });
}

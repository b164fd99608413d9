import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { packagedUnit } from '../../../scripts/release/tree.ts';
import { serviceNotes } from '../../../src/commands/check/service-view.ts';
import { givenFolder } from '../../support/folder.ts';

const configuration = '/etc/zlb-exporter/zlb.yml';

/** A machine with the unit of a package, and these files beside it. */
function givenMachine(files: Readonly<Record<string, string>> = {}): string {
  const root = givenFolder();
  const all = { 'usr/lib/systemd/system/zlb-exporter.service': packagedUnit('abc'), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function textsOf(root: string, read: readonly string[], written: readonly string[] = []) {
  return (await serviceNotes(configuration, { read, written }, root)).map(({ text }) => text);
}

it('a key that the unit of the service does not allow is named, with the folders that it allows', async () => {
  const texts = await textsOf(givenMachine(), [
    '/etc/zlb-exporter/keys/lb',
    '/srv/keys/lb-paris',
    '/etc/zlb-exporters',
  ]);

  expect(texts).toHaveLength(2);
  expect(texts[0]).toMatch(
    /^The service cannot read \/srv\/keys\/lb-paris, as its unit allows only .*\/etc\/zlb-exporter.* Move it there, or add --allow-fs-read=\/srv\/keys\/lb-paris to ZLB_NODE_FLAGS in \/etc\/zlb-exporter\/environment\.$/,
  );
});

it('a key in a home or in /tmp is hidden from the service, whatever its flags are', async () => {
  const environment = 'ZLB_NODE_FLAGS=--allow-fs-read=/home --allow-fs-read=/tmp/lb\n';
  const texts = await textsOf(givenMachine({ 'etc/zlb-exporter/environment': environment }), [
    '/home/ann/lb',
    '/tmp/lb',
  ]);

  expect(texts.map((text) => /\((\w+) hides it\)/.exec(text)?.[1])).toEqual(['ProtectHome', 'PrivateTmp']);
});

it.each([
  ['the environment file', 'etc/zlb-exporter/environment', 'ZLB_NODE_FLAGS=--allow-fs-read=/srv/keys\n'],
  ['an addition to the unit', 'etc/systemd/system/zlb-exporter.service.d/keys.conf', '--allow-fs-read=/srv/keys\n'],
])('a folder that %s allows can be read', async (_, path, text) => {
  expect(await textsOf(givenMachine({ [path]: text }), ['/srv/keys/lb-paris'])).toEqual([]);
});

it('a flag in a comment allows nothing', async () => {
  const environment = { 'etc/zlb-exporter/environment': '#ZLB_NODE_FLAGS=--allow-fs-read=/srv/keys\n' };

  expect(await textsOf(givenMachine(environment), ['/srv/keys/lb-paris'])).toHaveLength(1);
});

it('a journal outside the state of the service cannot be written', async () => {
  expect(await textsOf(givenMachine(), [], ['/var/lib/zlb-exporter/journal.db', '/srv/journal.db'])).toEqual([
    expect.stringMatching(/^The service cannot write \/srv\/journal\.db, .*, and ReadWritePaths= to the unit\.$/),
  ]);
});

it('a configuration that no unit starts with has no such notes', async () => {
  expect(await serviceNotes('/home/ann/zlb.yml', { read: ['/srv/key'], written: [] }, givenMachine())).toEqual([]);
  expect(await serviceNotes(configuration, { read: ['/srv/key'], written: [] }, givenFolder())).toEqual([]);
});

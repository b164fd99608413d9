import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createOperations, type Operation } from '../../../../src/admin/policy/operation.ts';
import { contentFromFlags, createRedactor, readText } from '../../../../src/commands/admin/content.ts';
import { givenFolder } from '../../../support/folder.ts';

function operation(key: string): Operation {
  return createOperations().get(key)!;
}

function givenInput(text: string) {
  return { input: Readable.from([Buffer.from(text)]) };
}

function givenFile(content: string | Buffer): string {
  const folder = givenFolder();
  const path = join(folder, 'content');
  writeFileSync(path, content);
  return path;
}

const nothing = givenInput('');

it('the content of a call is empty if the operation has no body', async () => {
  expect(await contentFromFlags(operation('readFarm'), [], undefined, nothing)).toBeUndefined();
});

it('the content of a call is a JSON object of the remaining values, even if there are none', async () => {
  const fields = [
    { name: 'action', value: 'stop' },
    { name: 'list', value: ['a'] },
  ];

  const content = await contentFromFlags(operation('actOnFarm'), fields, undefined, nothing);
  const empty = await contentFromFlags(operation('actOnFarm'), [], undefined, nothing);

  expect(content).toEqual({ type: 'application/json', bytes: Buffer.from('{"action":"stop","list":["a"]}') });
  expect(empty?.bytes.toString()).toBe('{}');
});

it.each([
  ['uploadCertificate', 'application/x-pem-file', '-----BEGIN CERTIFICATE-----'],
  ['uploadActivationCertificate', 'text/plain', 'text'],
  ['uploadBackup', 'application/gzip', 'H4sIAAAA'],
  ['actOnFarm', 'application/json', '{"action":"stop"}'],
])('the content of a call is the unchanged file for %s, with the type %s', async (key, type, text) => {
  const path = givenFile(text);

  const fromFile = await contentFromFlags(operation(key), [], `@${path}`, nothing);
  const fromInput = await contentFromFlags(operation(key), [], '-', givenInput(text));

  expect(fromFile).toEqual({ type, bytes: Buffer.from(text) });
  expect(fromInput).toEqual(fromFile);
});

it.each([
  ['readFarm', [], '-', 'readFarm takes no body; leave --body out'],
  ['readFarm', ['action'], undefined, 'readFarm takes no body, so there is no place for action'],
  ['actOnFarm', ['action'], '-', 'give either --body or action=…, not both'],
  ['actOnFarm', ['action', 'action'], undefined, 'action is given twice'],
  ['actOnFarm', [], '-', 'the body is not a JSON object'],
  ['uploadBackup', [], undefined, 'uploadBackup takes a file: --body=@PATH'],
  ['uploadBackup', [], 'backup.tar.gz', '--body is @PATH for a file, or - for standard input'],
  ['uploadBackup', [], '@/no/such/file', '--body: the file cannot be read: there is no such file'],
  ['uploadBackup', [], '@/', '--body: the file cannot be read: it is a folder'],
])('the content of a call is refused for %s with %j and %s', async (key, names, source, message) => {
  const fields = names.map((name) => ({ name, value: 'x' }));

  const reading = contentFromFlags(operation(key), fields, source, givenInput('no JSON'));

  await expect(reading).rejects.toThrow(message);
});

it('a file and standard input end a command once they are longer than the gateway takes', async () => {
  const path = givenFile('');
  const mebibyte = 1_048_576;
  let read = 0;
  function* endless() {
    for (; read < 100; read += 1) yield Buffer.alloc(mebibyte);
  }
  // Sparse: it takes no room.
  truncateSync(path, 32 * mebibyte + 1);

  const limit = 'is longer than 32 MiB, the most that the gateway takes. Check what is given';
  await expect(readText(path, '--key')).rejects.toThrow(`--key: the file ${limit}`);
  const input = { input: Readable.from(endless()) };
  const sending = contentFromFlags(operation('uploadBackup'), [], '-', input);
  await expect(sending).rejects.toThrow(`--body: standard input ${limit}`);
  expect(read).toBeLessThan(40);
});

const deep = `${'['.repeat(50_000)}"hunter2"${']'.repeat(50_000)}`;

it.each([
  [
    'is redacted as plain text and as JSON text',
    JSON.stringify({ user: 'alerts', password: 'a "b" c', more: [{ api_key: 'zebra' }] }),
    'alerts: a "b" c, {"p":"a \\"b\\" c"}, zebra',
    'alerts: [redacted], {"p":"[redacted]"}, [redacted]',
  ],
  ['is not redacted if it is part of ordinary words', '{"password":"yes"}', 'yes and no', 'yes and no'],
  ['is found however deep it is', `{"list":${deep}}`, 'hunter2', '[redacted]'],
])('a secret in a request body %s', (_, body, text, shown) => {
  expect(createRedactor({ type: 'application/json', bytes: Buffer.from(body) })(text)).toBe(shown);
});

it('a file is not searched for secrets', () => {
  expect(createRedactor({ type: 'text/plain', bytes: Buffer.from('{"password":"hunter2"}') })('hunter2')).toBe(
    'hunter2',
  );
});

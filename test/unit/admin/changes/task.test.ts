import { expect, it } from 'vitest';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { recipes } from '../../../../src/admin/recipes/recipes.ts';
import { type ChangeRequest, readChangeRequest, readTask, secretsOf } from '../../../../src/admin/changes/task.ts';

const known = { operations: createOperations(), recipes: () => recipes, digestKey: 'key' };
const restart = { recipe: 'restart-farm', parameters: { farm: 'shop' } };
const stop = { operation: 'actOnFarm', parameters: { farmname: 'shop' }, body: { action: 'stop' } };
const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, 'x']));
const ofEveryObject = (name: string) => JSON.parse(`{"farm":"shop","${name}":"x"}`) as Record<string, string>;
const takes = 'restart-farm takes farm; nothing was sent.';
const names = /^PUT \/farms\/\{farmname\}\/actions needs a plain value for each name in braces, and nothing else/;

it.each<readonly [string, Partial<ChangeRequest>, string | RegExp]>([
  ['nothing', {}, /names neither one operation nor one recipe: drain-backend, /],
  ['an unknown recipe', { recipe: 'reboot' }, /names neither/],
  ['a recipe and an operation', { ...restart, ...stop }, /names neither/],
  ['a file that no recipe takes', { ...restart, files: { key: 'PEM' } }, /^restart-farm takes none as files/],
  ['a recipe without its file', { recipe: 'install-activation' }, /^install-activation needs file, as a file/],
  ['an operation with a file', { ...stop, files: { key: 'PEM' } }, /names neither/],
  ['a recipe with a body', { ...restart, body: { action: 'stop' } }, /names neither/],
  ['a recipe without its value', { recipe: 'restart-farm' }, 'restart-farm needs farm; nothing was sent.'],
  ['toString', { ...restart, parameters: ofEveryObject('toString') }, takes],
  ['__proto__', { ...restart, parameters: ofEveryObject('__proto__') }, takes],
  ['constructor', { ...restart, parameters: ofEveryObject('constructor') }, takes],
  ['a read', { operation: 'readFarm', parameters: { farmname: 'shop' } }, /^readFarm changes nothing/],
  ['another parameter', { ...stop, parameters: { farmname: 'shop', 'approved by': 'root' } }, names],
  ['many of them', { ...stop, parameters: { farmname: 'shop', ...many } }, names],
  ['an operation without its object', { ...stop, parameters: {} }, names],
  ['an object that no path can name', { ...stop, parameters: { farmname: '../system' } }, names],
])('a change request is malformed: %s', (_, asked, because) => {
  const read = () => readTask({ appliance: 'lb-1', reason: 'a test', ...asked }, known);

  expect(read).toThrow(expect.objectContaining({ code: 'malformed_body' }));
  expect(read).toThrow(because);
});

it('a change request is read as a recipe with its values, or as an operation with its body', () => {
  const read = (asked: Partial<ChangeRequest>) => readTask({ appliance: 'lb-1', reason: 'a test', ...asked }, known);

  expect(read(restart)).toMatchObject({ recipe: { name: 'restart-farm' }, params: { farm: 'shop' } });
  expect(read(stop)).toEqual({
    operationId: 'actOnFarm',
    params: { farmname: 'shop' },
    content: { type: 'application/json', bytes: Buffer.from('{"action":"stop"}') },
  });
});

it('a change request yields the secret lines that may be echoed: of files, bodies and hidden fields', () => {
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
  const pem = `-----BEGIN PRIVATE KEY-----\n${line}\r\nshort==\n-----END PRIVATE KEY-----\n`;
  const read = (asked: Partial<ChangeRequest>) =>
    secretsOf(readTask({ appliance: 'lb-1', reason: 'a test', ...asked }, known)).map((secret) => secret.reveal());

  expect(read({ recipe: 'install-activation', files: { file: pem } })).toEqual([line]);
  expect(read(stop)).toEqual([]);
  const body = { user: 'monitoring-of-paris', newpassword: 'correct horse battery' };
  expect(read({ operation: 'updateCallingUser', body })).toContain('correct horse battery');
  expect(read({ operation: 'updateCallingUser', body })).not.toContain('monitoring-of-paris');
});

it('a change request without the time of a dry run is accepted, even if the clock advances meanwhile', () => {
  let ms = Date.UTC(2026, 0, 1);
  const asked = { appliance: 'lb-1', reason: 'a test', ...restart };

  expect(readChangeRequest(asked, { ...known, now: () => ms++ }).askedAtMs).toBe(Date.UTC(2026, 0, 1));
});

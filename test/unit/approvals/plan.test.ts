import { expect, it } from 'vitest';
import type { Calls, Preview } from '../../../src/recipes/calls.ts';
import { keyOfChange, prepare } from '../../../src/approvals/plan.ts';

it.each([
  ['the parameters in another order', 'lb-1', 'drain', { backend: '1', farm: 'shop' }, true],
  ['another value', 'lb-1', 'drain', { farm: 'shop', backend: '2' }, false],
  ['a parameter less', 'lb-1', 'drain', { farm: 'shop' }, false],
  ['another recipe', 'lb-1', 'restart-farm', { farm: 'shop', backend: '1' }, false],
  ['another appliance', 'lb-2', 'drain', { farm: 'shop', backend: '1' }, false],
])('a repair is compared with one that has %s', (_, appliance, recipe, parameters, isSame) => {
  const key = keyOfChange('lb-1', 'drain', { farm: 'shop', backend: '1' });

  expect(keyOfChange(appliance, recipe, parameters) === key).toBe(isSame);
});

const preview: Preview = {
  operation: 'setFarm',
  risk: 'reversible',
  would: 'send',
  because: [],
  request: { method: 'PUT', url: 'https://lb/', body: 'hidden' },
  findings: [],
  validation: { problems: [] },
  confirmation: { required: false, given: false },
  current: null,
};

/** Digest of the plan of one call with a body, as the other approver would get it. */
async function digestOf({ bytes = 'one', salt = 'salt', type = 'application/json', force = false } = {}) {
  const calls = { appliance: 'lb-1', preview: () => Promise.resolve(preview) } as unknown as Calls;
  const context = {
    calls,
    now: () => 0,
    steadyNow: () => 0,
    sleep: () => Promise.resolve(),
    progress: () => undefined,
  };
  const content = { type, bytes: Buffer.from(bytes) };
  const change = { operation: 'updateFarm', parameters: { farmname: 'shop' }, content } as const;
  return (await prepare(change, { context, force, reason: undefined, salt })).digest;
}

it.each([
  ['another body that is shown in the same way', { bytes: 'two' }],
  ['the body under another salt', { salt: 'pepper' }],
  ['another content type', { type: 'text/plain' }],
  ['guards overridden', { force: true }],
])('the digest of a plan differs for %s, and else is the same', async (_, other) => {
  expect(await digestOf()).toBe(await digestOf());
  expect(await digestOf(other)).not.toBe(await digestOf());
});

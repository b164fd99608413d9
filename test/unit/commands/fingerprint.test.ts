import { expect, it } from 'vitest';
import { fingerprint } from '../../../src/commands/fingerprint.ts';
import { makeMaterial, startTlsServer } from '../../support/tls-server.ts';
import { givenContext } from './given-command.ts';

it.each([
  [true, /, valid to [\d-]+: it has EXPIRED\.$/],
  [false, /, valid to [\d-]+\.$/],
])('fingerprint says whether a certificate has expired: %s', async (expired, words) => {
  const { url } = await startTlsServer(() => undefined, { material: makeMaterial({ expired }) });
  const { context, warned } = givenContext({ arguments: [url.host] });

  await fingerprint(context);

  expect(warned[0]).toMatch(words);
});

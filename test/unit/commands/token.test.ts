import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createPrincipals } from '../../../src/admin/policy/principal.ts';
import { token } from '../../../src/commands/token.ts';
import { loadText } from '../config/given-config.ts';
import { givenContext } from './given-command.ts';

it('token prints only the token on standard output, and only its digest elsewhere', async () => {
  const { context, said, warned } = givenContext({});

  const code = await token(context);

  const [made = ''] = said;
  expect(code).toBe(0);
  expect(said).toEqual([expect.stringMatching(/^zlb_[\w-]{43}$/)]);
  expect(warned.join('\n')).toContain(createHash('sha256').update(made).digest('hex'));
  expect(warned.join('\n')).not.toContain(made.slice(4));
});

it('token prints valid lines for a configuration that accepts the token', async () => {
  const { context, said, warned } = givenContext({});

  await token(context);

  const start = warned.indexOf('admin:');
  const block = warned.slice(start, warned.indexOf('', start)).join('\n');
  const { admin } = await loadText(`appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]\n${block}`);
  expect(admin?.tokens).toEqual([expect.objectContaining({ name: 'alice', role: 'operator', appliances: ['*'] })]);
  expect(admin?.tokens[0]?.expiresAtMs).toBeGreaterThan(Date.now());
  const principals = createPrincipals(admin?.tokens ?? [], Date.now);
  expect(principals.identify(said[0] ?? '')).toMatchObject({ principal: { name: 'alice' } });
  expect(principals.identify(`${said[0]}x`)).toBeUndefined();
});

it('token creates a new token each time', async () => {
  const { context, said } = givenContext({});

  await token(context);
  await token(context);

  expect(new Set(said).size).toBe(2);
});

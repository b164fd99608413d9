import { describe, expect, it } from 'vitest';
import { activationCollector } from '../../../src/collectors/activation.ts';
import type { Facts } from '../../../src/collectors/collector.ts';
import { type Collected, collectFrom, linesOf, refusal, type Replies } from './given-replies.ts';

const now = Date.UTC(2026, 10, 20, 21);
const day = 86_400;
const endInText = Date.UTC(2027, 5, 24, 11, 59, 58) / 1_000;

const version = { params: { hostname: 'lb-a' } };
const enterprise = { params: { hostname: 'lb-a', edition: 'enterprise' } };
const days = (days_to_expire: unknown, type = 'temporal') => ({ params: { days_to_expire, hostname: 'lb-a', type } });
const text = `Certificate:
    Data:
        Validity
            Not Before: Nov  6 12:00:00 2025 GMT
            Not After : Jun 24 11:59:58 2027 GMT
        Subject: CN = machine-canary
-----BEGIN CERTIFICATE-----
`;

const statusOf = (collected: Collected<unknown>) =>
  /status="(\w+)"\} 1$/m.exec(linesOf(collected, 'zlb_activation_status'))?.[1];
const endOf = (collected: Collected<unknown>) => {
  const line = linesOf(collected, 'zlb_activation_not_after_timestamp_seconds');
  return line === '' ? undefined : Number(line.split(' ').at(-1));
};

/** An Enterprise appliance with these days and this certificate, as far as they are given. */
const licensed = (info?: unknown, certificate?: unknown): Replies => ({
  readSystemVersion: version,
  readSystemInfo: enterprise,
  ...(info !== undefined && { readActivationInfo: info }),
  ...(certificate !== undefined && { readActivationCertificate: certificate }),
});
/** A release without `/system/info`. */
const older = (info: unknown, certificate?: unknown): Replies => {
  const { readSystemInfo: _, ...rest } = licensed(info, certificate);
  return rest;
};
const unlicensed = (info: unknown, certificate: unknown): Replies => ({
  ...older(info, certificate),
  readSystemVersion: refusal('unlicensed'),
});
const edition = (name: string): Replies => ({
  readSystemVersion: version,
  readSystemInfo: { params: { hostname: 'lb-a', edition: name } },
});

describe('the activation collector', () => {
  interface Seen {
    readonly status: string;
    readonly end?: number;
    readonly kind?: string;
  }
  const [forbidden, missing, refused] = [refusal('forbidden'), refusal('not_found'), refusal('unlicensed')];
  const knownEnd = { activationEndSeconds: 1_800_000_000 };
  const activated = { status: 'activated', kind: 'temporal' };
  const inDays = (count: number) => now / 1_000 + count * day;

  it.each<[name: string, replies: Replies, seen: Seen, facts?: Partial<Facts>]>([
    ['Community: nothing to activate', edition('community'), { status: 'not_applicable' }],
    ['activated, with a root key: the exact end', licensed(days('216'), text), { ...activated, end: endInText }],
    [
      'activated, with a restricted key: the end to the day',
      licensed(days('216'), forbidden),
      { ...activated, end: inDays(217) },
    ],
    [
      'the last day, as a number with two decimals',
      licensed(days(0.43), forbidden),
      { ...activated, end: inDays(0.44) },
    ],
    [
      'a permanent one past its end: still activated, without support',
      licensed(days(-12.07, 'permanent'), forbidden),
      { status: 'activated', end: inDays(-12.06), kind: 'permanent' },
    ],
    ['a release or edition without the days: no end', licensed(), { status: 'activated' }],
    ['missing days: no end', licensed(days('')), activated],
    [
      '0 days may be an unreadable date: the last known end stays',
      licensed(days(0)),
      { ...activated, end: 1_800_000_000 },
      knownEnd,
    ],
    [
      'a licence that was renewed: the new end',
      older(days('365'), forbidden),
      { ...activated, end: inDays(366) },
      { activationEndSeconds: inDays(3) },
    ],
    [
      'an exact end that is known from before: it stays',
      older(days('216'), forbidden),
      { ...activated, end: inDays(216.3) },
      { activationEndSeconds: inDays(216.3) },
    ],
    [
      'a date in the text that cannot be read: the days instead',
      licensed(days('1'), 'Not After : soon'),
      { ...activated, end: inDays(2) },
    ],
    [
      'deactivated, the expired file still there: its end',
      unlicensed(refused, text),
      { status: 'deactivated', end: endInText },
    ],
    [
      'deactivated, with a restricted key: the last known end stays',
      unlicensed(refused, forbidden),
      { status: 'deactivated', end: 1_800_000_000 },
      knownEnd,
    ],
    [
      'deactivated, and no file: no end, whatever was known',
      unlicensed(missing, missing),
      { status: 'deactivated' },
      knownEnd,
    ],
    [
      'deactivated, the file deleted, the days behind the check: no end',
      unlicensed(refused, missing),
      { status: 'deactivated' },
      knownEnd,
    ],
    ['an older release that has days: activated', older(days('30')), { ...activated, end: inDays(31) }],
    [
      'an older release that shows the file: activated',
      older(forbidden, text),
      { status: 'activated', end: endInText },
    ],
    ['an older release without either: unknown', older(missing, missing), { status: 'unknown' }],
    ['an older release whose key may read neither', older(forbidden, forbidden), { status: 'unknown' }],
    ['a new edition: unknown', edition('cloud'), { status: 'unknown' }],
  ])('derives the status and the expiry: %s', async (_, replies, { status, end, kind }, facts = {}) => {
    const collected = await collectFrom(activationCollector, replies, { now: () => now, facts });

    expect(statusOf(collected)).toBe(status);
    expect(endOf(collected)).toBe(end === undefined ? undefined : Math.ceil(end));
    expect(linesOf(collected, 'zlb_activation_info')).toBe(
      kind === undefined ? '' : `zlb_activation_info{appliance="lb",kind="${kind}"} 1`,
    );
    expect(collected.states).toEqual([`activation ${status}`]);
    expect(collected.facts?.isActivated).toBe(status !== 'deactivated');
  });

  it.each(['forbidden', 'unauthorized', 'not_found', 'server_error', 'timeout', 'connect', 'malformed'] as const)(
    'never reads %s of the version as deactivated',
    async (reason) => {
      const failing = collectFrom(activationCollector, { readSystemVersion: refusal(reason) });

      await expect(failing).rejects.toMatchObject({ reason });
    },
  );

  it.each(['readActivationInfo', 'readActivationCertificate', 'readSystemInfo'] as const)(
    'fails when %s fails, instead of dropping known values',
    async (key) => {
      const failing = collectFrom(activationCollector, { readSystemVersion: version, [key]: refusal('server_error') });

      await expect(failing).rejects.toMatchObject({ reason: 'server_error' });
    },
  );

  it.each(['server_error', 'timeout', 'malformed', 'bad_request'] as const)(
    'is deactivated by the 402 alone, if the licence cannot be read because of %s: the last known end stays',
    async (reason) => {
      const replies = unlicensed(refusal(reason), refusal(reason));
      const facts = { activationEndSeconds: 1_800_000_000 };

      const collected = await collectFrom(activationCollector, replies, { now: () => now, facts });

      expect([statusOf(collected), endOf(collected)]).toEqual(['deactivated', 1_800_000_000]);
    },
  );

  it('reads neither the edition again nor the licence of a Community appliance', async () => {
    const known = await collectFrom(
      activationCollector,
      { readSystemVersion: version },
      { facts: { edition: 'community' } },
    );
    const deactivated = await collectFrom(activationCollector, { readSystemVersion: refusal('unlicensed') });

    expect(known.asked).toEqual(['readSystemVersion']);
    expect(deactivated.asked).toEqual(['readSystemVersion', 'readActivationInfo', 'readActivationCertificate']);
    expect(deactivated.facts?.edition, 'Community never answers 402').toBe('enterprise');
  });

  it('exposes only two dates of the text form, and nothing that identifies the machine', async () => {
    const info = {
      params: { ...days('216').params, certificate_key: 'machine-canary', host_key: 'machine-canary', support: 'true' },
    };

    const collected = await collectFrom(activationCollector, licensed(info, text));

    expect(collected.text).toMatchInlineSnapshot(`
      "zlb_activation_status{appliance="lb",status="activated"} 1
      zlb_activation_status{appliance="lb",status="deactivated"} 0
      zlb_activation_status{appliance="lb",status="not_applicable"} 0
      zlb_activation_status{appliance="lb",status="unknown"} 0
      zlb_activation_info{appliance="lb",kind="temporal"} 1
      zlb_activation_not_before_timestamp_seconds{appliance="lb"} 1762430400
      zlb_activation_not_after_timestamp_seconds{appliance="lb"} 1813838398
      "
    `);
    expect(JSON.stringify(collected)).not.toContain('machine-canary');
  });
});

describe('an expiry derived from a day count', () => {
  /**
   * Returns the readings of polls every ten minutes while the days to a known end are counted down.
   */
  async function pollDown(
    trueEnd: number,
    from: number,
    count: number,
  ): Promise<readonly { readonly at: number; readonly end: number }[]> {
    const seen: { at: number; end: number }[] = [];
    let facts: Partial<Facts> = { edition: 'enterprise' };
    for (let poll = 0; poll < count; poll += 1) {
      const at = from + poll * 600;
      const left = (trueEnd - at) / day;
      const printed = left >= 1 ? String(Math.floor(left)) : Number(left.toFixed(2));
      const collected = await collectFrom(activationCollector, older(days(printed), refusal('forbidden')), {
        now: () => at * 1_000,
        facts,
      });
      facts = { ...facts, ...collected.facts };
      seen.push({ at, end: endOf(collected) ?? Number.NaN });
    }
    return seen;
  }

  it('is constant until the count first falls, then exact to one poll, and never too early', async () => {
    const from = now / 1_000;
    const trueEnd = from + 9.4 * day;

    const seen = await pollDown(trueEnd, from, 8 * 144);

    const firstFall = from + 0.4 * day;
    const before = seen.filter(({ at }) => at <= firstFall).map(({ end }) => end);
    const after = seen.filter(({ at }) => at > firstFall).map(({ end }) => end);
    expect(new Set(before)).toEqual(new Set([from + 10 * day]));
    expect(Math.max(...after) - trueEnd).toBeLessThanOrEqual(600);
    expect(Math.min(...after)).toBeGreaterThanOrEqual(trueEnd);
    expect(new Set(seen.map(({ end }) => end)).size, 'a series that hardly ever moves').toBeLessThanOrEqual(3);
  });

  it('stays exact through the last day and past the expiry', async () => {
    const from = now / 1_000;
    const trueEnd = from + 1.2 * day;

    const seen = await pollDown(trueEnd, from, 3 * 144);

    const late = seen.filter(({ at }) => at > from + 0.3 * day).map(({ end }) => end);
    expect(Math.max(...late.map((end) => Math.abs(end - trueEnd)))).toBeLessThanOrEqual(0.02 * day);
  });
});

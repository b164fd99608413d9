import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/appliance/errors.ts';
import type { Fault } from '../../simulator/faults.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { givenAppliance, minuteMs } from '../support/given-appliance.ts';
import { stateOf, valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';

/** The recorded appliance, watched, with one run of every collector that matters here behind it. */
const givenWatchedAppliance = () =>
  givenAppliance(recordedWorld(), {
    timeoutMs: 2_000,
    runs: ['farms', 'certificates', 'appliance', 'activation'],
  });

/**
 * A fault of each kind, its reason, and zlb_up while it begins and when the last good answer is too
 * old; client.test.ts has all that a call may meet.
 */
const faults: readonly (readonly [what: string, Fault, FailureReason, up: number, upLater: number])[] = [
  ['the port is closed', { kind: 'refuse' }, 'connect', 0, 0],
  ['it accepts and never answers', { kind: 'hang' }, 'timeout', 0, 0],
  ['the key is refused with 401', { kind: 'status', status: 401 }, 'unauthorized', 0, 0],
  ['the certificate is another and expired', { kind: 'expired_tls' }, 'tls', 0, 0],
  ['the server fails, 500', { kind: 'status', status: 500 }, 'server_error', 1, 0],
  ['fields have the wrong types: the key is good', { kind: 'wrong_types' }, 'malformed', 1, 1],
  ['the right is missing, 403: the key is good', { kind: 'status', status: 403 }, 'forbidden', 1, 1],
];

describe('/metrics during a fault, and its recovery', () => {
  it.each(faults)('when %s: only the farms collector fails, and it recovers', async (_, fault, reason, up, upLater) => {
    const { appliance, poll, page, pass } = await givenWatchedAppliance();
    const before = await page();

    appliance.fail('*', fault);
    await poll('farms');

    const during = await page();
    expect(valueOf(during, 'zlb_collector_success', { collector: 'farms' })).toBe(0);
    expect(valueOf(during, 'zlb_collector_errors_total', { collector: 'farms', reason })).toBe(1);
    expect(valueOf(during, 'zlb_collector_success', { collector: 'certificates' }), 'another collector').toBe(1);
    expect(stateOf(during, 'zlb_farm_status', { farm: 'webshop' }), 'still within max_stale').toBe('problem');
    expect(valueOf(during, 'zlb_up'), 'about now').toBe(up);

    pass(4 * minuteMs);
    const later = await page();
    expect(stateOf(later, 'zlb_farm_status', { farm: 'webshop' }), 'removed after max_stale').toBeUndefined();
    expect(valueOf(later, 'zlb_farm_established_connections', { farm: 'webshop' })).toBeUndefined();
    expect(
      valueOf(later, 'zlb_certificate_not_after_timestamp_seconds', { file: 'shop_example_com.pem' }),
      'dates stay',
    ).toBeDefined();
    expect(valueOf(later, 'zlb_up'), 'no authenticated answer within max_stale').toBe(0);
    await poll('farms');
    expect(valueOf(await page(), 'zlb_up')).toBe(upLater);

    // A probe that is under way when the port opens would still fail, and delay the next one.
    if (reason === 'connect')
      await until(page, (text) => stateOf(text, 'zlb_circuit_breaker_state', {}, 'state') === 'open');
    appliance.heal();
    pass(3 * minuteMs);
    await poll('farms');
    const after = await page();
    expect(valueOf(after, 'zlb_up')).toBe(1);
    expect(valueOf(after, 'zlb_collector_success', { collector: 'farms' })).toBe(1);
    expect(stateOf(after, 'zlb_farm_status', { farm: 'webshop' })).toBe(
      stateOf(before, 'zlb_farm_status', { farm: 'webshop' }),
    );
    expect(stateOf(after, 'zlb_circuit_breaker_state', {}, 'state')).toBe('closed');
    expect(during + later + after).not.toContain('canary-key');
  });

  it('when it echoes the key as an address: the key is neither in the metrics nor in the log', async () => {
    const world = recordedWorld();
    for (const farm of world.farms.values()) farm.vip = 'canary-key';

    const { page, logged } = await givenAppliance(world, { runs: ['farms', 'summary', 'backends'] });

    expect(await page()).toMatch(/zlb_farm_info\{.*vip="\[redacted\]"/);
    expect((await page()) + JSON.stringify(logged)).not.toContain('canary-key');
  });
});

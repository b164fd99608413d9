import { describe, expect, it } from 'vitest';
import type { Emit } from '../../../src/metrics/samples.ts';
import { createExposition } from '../../../src/metrics/exposition.ts';
import { createCounters } from '../../../src/monitor/counters.ts';
import { createDisplay } from '../../../src/monitor/display.ts';
import { createLedger, ledgerFamilies } from '../../../src/monitor/ledger.ts';
import { createShelf } from '../../../src/monitor/shelf.ts';
import { valueOf } from '../../support/samples.ts';

describe('the ledger on the page', () => {
  it('is rendered once for all that happened, and not at all when nothing did', () => {
    const { display, counters, settle, renderings } = given();
    settle();
    const before = renderings();

    for (let time = 0; time < 50; time += 1) {
      counters.failed('farms', 'timeout');
      display.publish();
    }
    const meanwhile = renderings();
    const page = settle();
    settle();

    expect(meanwhile).toBe(before);
    expect(renderings()).toBe(before + 1);
    expect(valueOf(page, 'zlb_collector_errors_total', { collector: 'farms', reason: 'timeout' })).toBe(50);
  });

  it('renders anew of what it counts what has moved, and nothing else', () => {
    const { display, counters, settle, tallyRenderings } = given();
    display.publish();
    settle();
    tallyRenderings.clear();

    counters.failed('farms', 'timeout');
    display.publish();
    settle();

    expect([...tallyRenderings]).toEqual([['zlb_collector_errors_total', 1]]);
  });

  it('does not count itself among the series that the appliance holds, nor what the one before it has left', () => {
    const { counters, settle, display, showAnew } = given();
    settle();
    counters.called(answered);
    display.publish();
    const seen = valueOf(settle(), 'zlb_exporter_series');

    expect([seen, valueOf(showAnew(), 'zlb_exporter_series')]).toEqual([0, 0]);
  });

  it('goes down at the moment after which an answer no longer counts, though nothing is published', () => {
    const { ledger, settle, clock } = given();
    ledger.called(answered, clock.ms);
    const up = valueOf(settle(), 'zlb_up');
    clock.ms += 999;
    const stillUp = valueOf(settle(), 'zlb_up');
    clock.ms += 1;

    expect([up, stillUp, valueOf(settle(), 'zlb_up')]).toEqual([1, 1, 0]);
  });

  it('stays up as long as answers come, and is up again with the first of them, though nothing is published', () => {
    const { ledger, settle, clock } = given();
    ledger.called(answered, clock.ms);
    settle();
    clock.ms += 900;
    ledger.called(answered, clock.ms);
    clock.ms += 900;
    const kept = valueOf(settle(), 'zlb_up');
    clock.ms += 900;
    const down = valueOf(settle(), 'zlb_up');
    ledger.called(answered, clock.ms);

    expect([kept, down, valueOf(settle(), 'zlb_up')]).toEqual([1, 0, 1]);
  });
});

const answered = {
  method: 'GET',
  endpoint: '/stats',
  code: '200',
  reason: undefined,
  seconds: 0.1,
  authenticated: true,
  clockOffsetSeconds: 0,
};

/** A ledger for which an answer counts for a second. */
function given() {
  const clock = { ms: 0 };
  let renderings = 0;
  const tallyRenderings = new Map<string, number>();
  const exposition = createExposition({ families: ledgerFamilies, appliances: ['lb'] });
  const counters = createCounters();
  const ledger = createLedger({ collectors: ['farms'], counters, upForMs: () => 1_000 });
  const shelf = createShelf({
    appliance: 'lb',
    held: new Map(),
    exposition,
    maxSeries: 1_000,
    precedence: () => 0,
    outlives: () => false,
    onDropped: () => undefined,
    onUnknownState: () => undefined,
  });
  const parts: Parameters<typeof createDisplay>[0] = {
    appliance: 'lb',
    exposition,
    ledger: {
      ...ledger,
      expose(...parts) {
        renderings += 1;
        ledger.expose(...parts);
      },
      get tallies() {
        return ledger.tallies.map(({ name, version, expose }) => ({
          name,
          version,
          expose(emit: Emit) {
            tallyRenderings.set(name, (tallyRenderings.get(name) ?? 0) + 1);
            expose(emit);
          },
        }));
      },
    },
    shelf,
    breakerState: () => 'closed',
    age: () => clock.ms,
  };
  const display = createDisplay(parts);
  return {
    display,
    ledger,
    counters,
    clock,
    renderings: () => renderings,
    tallyRenderings,
    /** The page, once another display has taken the place of this one. */
    showAnew() {
      const other = createDisplay(parts);
      other.publish();
      other.settle(new Map());
      return exposition.page('text').text.toString();
    },
    /** The page, brought up to this moment. */
    settle() {
      display.settle(new Map());
      return exposition.page('text').text.toString();
    },
  };
}

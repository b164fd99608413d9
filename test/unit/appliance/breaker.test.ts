import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Breaker, createBreaker } from '../../../src/appliance/breaker.ts';

function given({ random = 0 }: { random?: number } = {}) {
  const clock = { ms: 1_000_000 };
  const breaker = createBreaker({ elapsedNow: () => clock.ms, random: () => random });
  return { breaker, clock };
}

function fail(breaker: Breaker, times: number): void {
  for (let time = 0; time < times; time += 1) breaker.recordFailure('timeout');
}

describe('the circuit breaker', () => {
  it('opens at the third consecutive failure, and not if a call succeeded in between', () => {
    const interrupted = given().breaker;
    const straight = given().breaker;

    fail(interrupted, 2);
    interrupted.recordResponse();
    fail(interrupted, 2);
    fail(straight, 3);

    expect([interrupted.state, straight.state]).toEqual(['closed', 'open']);
    expect([interrupted.admit(), interrupted.admit(), interrupted.waitMs]).toEqual([true, true, 0]);
  });

  it('permits exactly one ping after ten seconds', () => {
    const { breaker, clock } = given();
    fail(breaker, 3);

    clock.ms += 9_999;
    const early = breaker.admit();
    clock.ms += 1;

    expect([early, breaker.admit(), breaker.admit()]).toEqual([false, true, false]);
    expect(breaker.state).toBe('half_open');
  });

  it('doubles the wait with each refused key, up to two minutes, and resets it after a success', () => {
    const { breaker, clock } = given();
    breaker.recordRefusedKey();

    const waits = Array.from({ length: 6 }, () => {
      const wait = breaker.waitMs;
      clock.ms += wait;
      breaker.admit();
      breaker.recordRefusedKey();
      return wait;
    });
    clock.ms += breaker.waitMs;
    breaker.admit();
    breaker.recordResponse();
    breaker.recordRefusedKey();

    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
    expect(breaker.waitMs).toBe(10_000);
  });

  it('pings an unresponsive appliance every ten seconds', () => {
    const { breaker, clock } = given();
    fail(breaker, 3);

    for (let ping = 0; ping < 6; ping += 1) {
      expect(breaker.waitMs).toBe(10_000);
      clock.ms += 10_000;
      breaker.admit();
      breaker.recordFailure('timeout');
    }
  });

  it('shortens a wait randomly by up to half, so that exporters do not call together', () => {
    const { breaker } = given({ random: 1 });

    fail(breaker, 3);

    expect(breaker.waitMs).toBe(5_000);
  });

  it('treats an unusually long call as the start of an outage, and its response as the end', () => {
    const { breaker, clock } = given();
    const ended = breaker.startCall();

    clock.ms += 11_999;
    const before = breaker.callsSucceed;
    clock.ms += 1;
    const silent = breaker.callsSucceed;
    breaker.recordResponse();
    ended();

    expect([before, silent, breaker.callsSucceed]).toEqual([true, false, true]);
    // Calls of this appliance take so long.
    breaker.startCall();
    clock.ms += 17_000;
    expect(breaker.callsSucceed).toBe(true);
    // But not half as long again.
    clock.ms += 1_000;
    expect(breaker.callsSucceed).toBe(false);
  });

  it('is closed after a success, waits two minutes at most, and permits one ping at a time', () => {
    const step = fc.oneof(
      fc.constantFrom('admit', 'recordResponse', 'recordFailure', 'recordRefusedKey'),
      fc.integer({ min: 0, max: 200_000 }),
    );

    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.double({ min: 0, max: 1, noNaN: true }), (steps, random) => {
        const { breaker, clock } = given({ random });
        let admittedPings = 0;
        for (const each of steps) {
          if (typeof each === 'number') clock.ms += each;
          else if (each === 'admit') {
            const before = breaker.state;
            const admitted = breaker.admit();
            if (before === 'half_open') expect(admitted).toBe(false);
            if (before !== 'closed' && admitted) admittedPings += 1;
          } else {
            breaker[each]('timeout');
            admittedPings = 0;
          }
          if (each === 'recordResponse') expect(breaker.state).toBe('closed');
          if (each === 'recordRefusedKey') expect(breaker.state).toBe('open');
          if (breaker.callsSucceed) expect(breaker.state).toBe('closed');
          expect(breaker.waitMs).toBeGreaterThanOrEqual(0);
          expect(breaker.waitMs).toBeLessThanOrEqual(120_000);
          expect(admittedPings).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

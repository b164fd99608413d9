import { describe, expect, it, vi } from 'vitest';
import { createLane } from '../../../src/admin/lane.ts';

const here = new AbortController().signal;

function givenLane(options: { slots?: number; mostWaiting?: number } = {}) {
  return createLane({ appliance: 'lb-1', slots: 1, mostWaiting: 4, patienceMs: 1_000, ...options });
}

/** Whether a promise has settled, and how, once everything has happened that waits for nothing else. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  const pending = Symbol('pending');
  const settled = new Promise((resolve) => setImmediate(() => resolve(pending)));
  try {
    return (await Promise.race([promise, settled])) === pending ? 'waits' : 'passes';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

describe('a lane', () => {
  it('lets as many pass as it has slots, and the next in the order in which they came', async () => {
    const lane = givenLane({ slots: 2 });
    const first = await lane.enter('alice', here);
    await lane.enter('alice', here);
    const third = lane.enter('bob', here);
    const fourth = lane.enter('carol', here);

    expect([await stateOf(third), await stateOf(fourth)]).toEqual(['waits', 'waits']);
    first();

    expect([await stateOf(third), await stateOf(fourth)]).toEqual(['passes', 'waits']);
  });

  it('counts a turn that ends twice once', async () => {
    const lane = givenLane();
    const leave = await lane.enter('alice', here);
    leave();
    leave();
    await lane.enter('alice', here);

    expect(await stateOf(lane.enter('alice', here))).toBe('waits');
  });

  it('turns away who has half of the waiting places, and has the other half for others', async () => {
    const lane = givenLane();
    await lane.enter('alice', here);
    const own = [lane.enter('alice', here), lane.enter('alice', here)];

    expect(await stateOf(lane.enter('alice', here))).toBe('busy');
    const others = [lane.enter('bob', here), lane.enter('carol', here)];
    expect(await stateOf(lane.enter('dave', here))).toBe('busy');

    expect(await Promise.all([...own, ...others].map(stateOf))).toEqual(['waits', 'waits', 'waits', 'waits']);
  });

  it('lets nobody wait for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const lane = givenLane();
      await lane.enter('alice', here);
      const waiting = lane.enter('bob', here);

      vi.advanceTimersByTime(1_000);

      await expect(waiting).rejects.toMatchObject({ code: 'busy', headers: { 'retry-after': '2' } });
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps no place for who leaves while waiting', async () => {
    const lane = givenLane();
    const leave = await lane.enter('alice', here);
    const impatient = new AbortController();
    const gone = lane.enter('bob', impatient.signal);
    const next = lane.enter('carol', here);

    impatient.abort();
    expect(await stateOf(gone)).toBe('busy');
    leave();

    expect(await stateOf(next)).toBe('passes');
  });
});

import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createFreezeSwitch } from '../../../../src/admin/policy/freeze.ts';

const now = () => Date.parse('2026-11-21T01:02:03Z');
const incident = { by: 'alice', reason: 'incident 7' };
const frozen = { ...incident, since: '2026-11-21T01:02:03.000Z' };

/** A switch, and a journal of which only the freeze is of interest; `isFull` makes it refuse. */
function givenSwitch() {
  const journal = { freeze: undefined as string | undefined, isFull: false };
  const changes: boolean[] = [];
  const freeze = createFreezeSwitch(now, (isFrozen) => void changes.push(isFrozen));
  const keep = async (text: string | null) => {
    await setImmediate();
    if (journal.isFull) throw new Error('no room is left');
    journal.freeze = text ?? undefined;
  };
  return { freeze, keep, journal, changes };
}

it('a freeze takes effect before the journal stores it', async () => {
  const { freeze, keep, journal } = givenSwitch();

  const kept = freeze.freeze(incident, keep);

  expect(freeze.state).toEqual(frozen);
  expect(freeze.signal.aborted).toBe(true);
  expect(freeze.isSaved).toBe(false);
  await kept;
  expect(freeze.isSaved).toBe(true);
  expect(JSON.parse(journal.freeze ?? '')).toEqual(frozen);
});

it('a freeze holds while the disk is full, says that it is not stored, and is stored once there is room', async () => {
  const { freeze, keep, journal } = givenSwitch();
  journal.isFull = true;

  await freeze.freeze(incident, keep);
  await freeze.retrySave();
  expect({ state: freeze.state, isKept: freeze.isSaved }).toEqual({ state: frozen, isKept: false });

  journal.isFull = false;
  await freeze.retrySave();

  expect(freeze.isSaved).toBe(true);
  expect(journal.freeze).toContain('incident 7');
});

it('a freeze stays in effect if the unfreeze cannot be stored', async () => {
  const { freeze, keep, journal } = givenSwitch();
  await freeze.freeze(incident, keep);
  journal.isFull = true;

  await expect(freeze.unfreeze(keep)).rejects.toThrow('no room');

  expect(freeze.state).toEqual(frozen);
  expect(freeze.signal.aborted).toBe(true);
});

it('a freeze is taken over from the opened journal, which never lifts one that it has not stored yet', async () => {
  const { freeze, keep, journal } = givenSwitch();

  freeze.load(JSON.stringify(frozen));
  expect(freeze.state).toEqual(frozen);
  freeze.load(undefined);
  expect(freeze.state).toBeUndefined();

  journal.isFull = true;
  await freeze.freeze(incident, keep);
  freeze.load(undefined);
  expect(freeze.state).toEqual(frozen);
});

it.each([JSON.stringify(frozen), '{'])(
  'a freeze is lifted when the record of its end is what opens the journal again: %s',
  async (stored) => {
    const { freeze, keep, changes } = givenSwitch();
    freeze.load(stored);

    await freeze.unfreeze(async (text) => {
      // The journal tells what it had before it writes.
      freeze.load(stored);
      await keep(text);
    });

    expect(freeze.state).toBeUndefined();
    expect(changes.at(-1)).toBe(false);
  },
);

it('a freeze is assumed if its record in the journal cannot be read', () => {
  const { freeze } = givenSwitch();

  freeze.load('{');

  expect(freeze.state).toEqual({ by: 'unknown', reason: 'unknown', since: 'unknown' });
});

it('a freeze ends as the last call says: memory, signal, journal and metric agree', async () => {
  const step = fc.record({ freezes: fc.boolean(), turnsBefore: fc.integer({ min: 0, max: 3 }) });

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      const { freeze, keep, journal, changes } = givenSwitch();
      const pending: Promise<unknown>[] = [];
      for (const { freezes, turnsBefore } of steps) {
        for (let turn = 0; turn < turnsBefore; turn += 1) await setImmediate();
        pending.push(freezes ? freeze.freeze(incident, keep) : freeze.unfreeze(keep));
      }
      await Promise.all(pending);

      const { freezes } = steps.at(-1)!;
      expect([
        freeze.state !== undefined,
        freeze.signal.aborted,
        journal.freeze !== undefined,
        changes.at(-1) ?? false,
        freeze.isSaved,
      ]).toEqual([freezes, freezes, freezes, freezes, true]);
    }),
    { numRuns: 100 },
  );
});

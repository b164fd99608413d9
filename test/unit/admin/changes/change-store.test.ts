import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPrincipals } from '../../../../src/admin/policy/principal.ts';
import type { StoredState } from '../../../../src/admin/journal/journal.ts';
import type { AuditLine } from '../../../../src/admin/journal/record.ts';
import { endingOf, sweep } from '../../../../src/admin/changes/recover.ts';
import type { Change } from '../../../../src/admin/changes/change.ts';
import { ChangeStore, type ChangeStoreParts } from '../../../../src/admin/changes/change-store.ts';
import type { ChangesContext } from '../../../../src/admin/changes/context.ts';
import { givenEntry } from '../../../support/given-principal.ts';
import { created, givenChange } from './given-change.ts';

const token = givenEntry('alice-token', { name: 'alice', role: 'operator', person: 'alice' });

/** A journal that has one change and these records, and the store that opens it. */
function givenBook(known: Partial<Change> = {}, records: readonly object[] = []) {
  const change = givenChange(known);
  const clock = { ms: created };
  const states: (string | undefined)[] = [];
  const forgotten: string[] = [];
  /** True while the numbers of open changes are shown. */
  let isShown = false;
  let tellOpened: (opened: StoredState) => void = () => undefined;
  const journal: ChangesContext['journal'] = {
    append({ state }, alongside) {
      states.push(state);
      forgotten.push(...(alongside?.forgotten ?? []));
      return Promise.resolve({ seq: 1, hash: '' });
    },
    writeState: () => Promise.resolve(),
    onOpened(listener) {
      tellOpened = listener;
    },
    query: ({ request: id }) =>
      Promise.resolve((records as readonly AuditLine[]).filter((each) => id === undefined || each.request === id)),
  };
  const parts = {
    journal,
    principals: createPrincipals([token], () => clock.ms),
    recorder: { recordOrRefuse: () => Promise.reject(new Error('no person acts here')) },
    metrics: {
      setOpenChanges: () => void (isShown = true),
      clearOpenChanges: () => void (isShown = false),
      countChangeEnd: () => undefined,
    },
    now: () => clock.ms,
    log: pino({ level: 'silent' }),
  };
  const store = new ChangeStore(parts);
  const open = (
    stored: object = { change, sealed: { person: 'alice', salt: '' } },
    others: readonly Change[] = [],
    isCopy = false,
  ): void => {
    const kept = others.map((each) => [each.id, JSON.stringify({ change: each, sealed: null })] as const);
    tellOpened({ changes: new Map([[change.id, JSON.stringify(stored)], ...kept]), freeze: undefined, isCopy });
  };
  open();
  return {
    clock,
    states,
    forgotten,
    isShown: () => isShown,
    store,
    open,
    entry: store.find(change.id)!,
    sweep: () => sweep({ ...parts, store } as unknown as ChangesContext),
  };
}

const current = { operation: 'readFarm' as const, status: 200, body: 'large' };
const plan = { facts: [], steps: [{ title: 'Restart', call: null, findings: [], because: [], current }] };
const alert = { name: 'ZlbFarmNeedsRestart', summary: null, since: new Date(created).toISOString() };

it.each<readonly [string, Partial<Change>, number, string]>([
  ['whose time is not over', {}, 1_799_999, 'pending'],
  ['whose time is over', {}, 1_800_000, 'expired'],
  ['after the clock was set back a little', {}, -60_000, 'pending'],
  ['after the clock was set back', {}, -60_001, 'expired'],
  ['of a token that is not in force', { requested_by: 'carol' }, 0, 'cancelled'],
  ['of an alert that fires', { state: 'proposed', alerts: [alert] }, 0, 'proposed'],
  ['of an alert that has ended', { state: 'proposed' }, 0, 'withdrawn'],
  ['that is approved', { state: 'approved' }, 1_800_000, 'approved'],
])('a change %s is in the expected state (%#)', async (_, known, laterMs, state) => {
  const { clock, states, store, entry } = givenBook({ plan, ...known });
  clock.ms += laterMs;

  await store.endIfLapsed(entry);

  const isOver = state !== (known.state ?? 'pending');
  expect(entry).toMatchObject({ change: { state }, sealed: isOver ? null : { person: 'alice' } });
  // Objects are large, and change.
  expect(entry.change.plan.steps[0]?.current).toEqual(isOver ? null : current);
  expect(states).toEqual(isOver ? [state] : []);
});

it('the change store takes over what another exporter has decided when it opens the same journal', () => {
  const { store, entry, open } = givenBook();
  const { change } = entry;

  open({ change: { ...change, state: 'denied' }, sealed: null });

  expect(store.find(change.id)?.change.state).toBe('denied');
});

it('the change store keeps a change that it executes itself when the journal is opened again', () => {
  const { store, entry, open } = givenBook({ state: 'executing' });
  store.claim(entry.change.id, new Set());

  open({ change: { ...entry.change, state: 'approved' }, sealed: { person: 'alice', salt: '' } });

  expect(store.find(entry.change.id)).toBe(entry);
});

it('the change store keeps how a change ended until that is stored, also when the journal is opened again', async () => {
  const { store, entry, open, sweep } = givenBook({ state: 'executing' });
  entry.ending = { state: 'done', lines: ['✓ 1. Restarted.'], code: null, sent: true };

  open();
  await sweep();

  expect(store.changes).toMatchObject([{ state: 'done', outcome: { lines: ['✓ 1. Restarted.'] } }]);
});

it('the change store withdraws a proposal whose alert ended before the journal was opened again', async () => {
  const { store, entry, open, sweep } = givenBook({ state: 'proposed', alerts: [alert] });
  entry.firingAlerts = [];

  open();
  await sweep();

  expect(store.changes).toMatchObject([{ state: 'withdrawn' }]);
});

it('the change store refuses a decision on a change while another decision is in progress', async () => {
  const { store, entry } = givenBook();
  const work = Promise.withResolvers<void>();
  const working = store.withLock(entry, () => work.promise);

  await expect(store.lockForDecision(entry, () => Promise.resolve(entry.change))).rejects.toMatchObject({
    code: 'busy',
    message: `${entry.change.id} is being changed; nothing was sent.`,
    remedy: 'Try again in a moment.',
    headers: { 'retry-after': '2' },
  });
  work.resolve();
  await working;
  expect(await store.lockForDecision(entry, () => Promise.resolve(entry.change))).toBe(entry.change);
});

it('the change store reports an unreadable journal instead of an empty list until it is open', () => {
  const { journal, ...parts } = { journal: { onOpened: () => undefined } };
  const store = new ChangeStore({ journal, ...parts } as unknown as ChangeStoreParts);

  expect(() => store.assertLoaded()).toThrow('The journal cannot be written');
});

it('the change store reports an unknown outcome for a change whose records are missing', () => {
  expect(endingOf('executing', { facts: [], steps: [] }, []).state).toBe('uncertain');
  expect(endingOf('approved', { facts: [], steps: [] }, []).state).toBe('failed');
});

it('the change store searches the audit only for the changes that a stopped exporter left behind', async () => {
  const { id } = givenChange();
  // Another change was answered; of this one the call is under way.
  const { store, sweep } = givenBook({ state: 'executing' }, [
    { request: id, event: 'change', state: 'executing' },
    { request: id, event: 'intent' },
    { request: 'ch-bbbbbbbbbb', event: 'outcome', status: 200 },
  ]);

  await sweep();

  expect(store.changes).toMatchObject([{ state: 'uncertain' }]);
});

it('the change store shows no numbers of open changes once it is closed, even if a sweep goes on', async () => {
  const { store, sweep, isShown } = givenBook({ state: 'executing' });
  expect(isShown()).toBe(true);

  const swept = sweep();
  store.close();
  await swept;

  expect(isShown()).toBe(false);
});

it.each(['approved', 'executing'] as const)(
  'the change store does not know the outcome of a change that is %s in a copy of the journal',
  async (state) => {
    const { store, sweep, open } = givenBook();
    open({ change: givenChange({ state }), sealed: { person: 'alice', salt: '' } }, [], true);

    await sweep();

    expect(store.changes).toMatchObject([{ state: 'uncertain', outcome: { sent: true } }]);
  },
);

it('the change store keeps the changes of a token with few, however many another one has', async () => {
  const { store, clock, entry, forgotten, open } = givenBook();
  const at = (ms: number): string => new Date(created - ms).toISOString();
  const over = Array.from({ length: 199 }, (_, index) =>
    givenChange({ id: `ch-${index}`, state: 'done', created: at(1_000 * (index + 1)) }),
  );
  const old = givenChange({ id: 'ch-of-carol', state: 'done', requested_by: 'carol', created: at(9_000_000) });
  open(undefined, [...over, old]);
  clock.ms += 1_800_000;

  await store.endIfLapsed(store.find(entry.change.id)!);

  expect(forgotten).toEqual(['ch-198']);
});

it('the change store keeps the newest 200 finished changes', async () => {
  const { store, clock, entry, forgotten, open } = givenBook();
  const over = Array.from({ length: 200 }, (_, index) =>
    givenChange({ id: `ch-${index}`, state: 'done', created: new Date(created - 1_000 * (index + 1)).toISOString() }),
  );
  open(undefined, over);
  clock.ms += 1_800_000;

  await store.endIfLapsed(store.find(entry.change.id)!);

  expect(forgotten).toEqual(['ch-199']);
});

import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPrincipals } from '../../../../src/admin/policy/principal.ts';
import type { AuditLine } from '../../../../src/admin/journal/record.ts';
import { endingOf, sweep } from '../../../../src/admin/changes/carry-out.ts';
import type { ChangeRequest } from '../../../../src/admin/changes/change-request.ts';
import { createRequestFolder, RequestBook } from '../../../../src/admin/changes/request-book.ts';
import type { ApprovalsCore } from '../../../../src/admin/changes/core.ts';
import { givenFolder } from '../../../support/folder.ts';
import { givenEntry } from '../../../support/given-principal.ts';
import { created, givenRequest } from './given-request.ts';

const token = givenEntry('alice-token', { name: 'alice', role: 'operator', person: 'alice' });

/** A folder with one request, and books that open it; the audit has these records. */
async function givenBook(known: Partial<ChangeRequest> = {}, records: readonly object[] = []) {
  const request = givenRequest(known);
  const folder = createRequestFolder(givenFolder());
  const clock = { ms: created };
  const states: (string | undefined)[] = [];
  const journal: ApprovalsCore['journal'] = {
    append({ state }) {
      states.push(state);
      return Promise.resolve({ seq: 1, hash: '' });
    },
    query: ({ request: id }) =>
      Promise.resolve((records as readonly AuditLine[]).filter((each) => id === undefined || each.request === id)),
  };
  const parts = {
    folder,
    journal,
    principals: createPrincipals([token], () => clock.ms),
    recorder: { record: () => Promise.reject(new Error('no person acts here')) },
    metrics: { changeRequests: () => undefined, changeRequestEnded: () => undefined },
    now: () => clock.ms,
    log: pino({ level: 'silent' }),
  };
  await (await folder.draft({ request, sealed: { person: 'alice', salt: '' } })).keep();
  const open = async () => {
    const book = await RequestBook.open(parts);
    return { book, entry: book.find(request.id)!, sweep: () => sweep({ ...parts, book } as unknown as ApprovalsCore) };
  };
  return { clock, states, open };
}

const current = { operation: 'readFarm', body: 'large' };
const plan = { facts: [], steps: [{ title: 'Restart', call: null, findings: [], because: [], current }] };
const alert = { name: 'ZlbFarmNeedsRestart', summary: null, since: new Date(created).toISOString() };

it.each<readonly [string, Partial<ChangeRequest>, number, string]>([
  ['whose time is not over', {}, 1_799_999, 'pending'],
  ['whose time is over', {}, 1_800_000, 'expired'],
  ['after the clock was set back a little', {}, -60_000, 'pending'],
  ['after the clock was set back', {}, -60_001, 'expired'],
  ['of a token that is not in force', { requested_by: 'carol' }, 0, 'cancelled'],
  ['of an alert that fires', { state: 'proposed', alert }, 0, 'proposed'],
  ['of an alert that has ended', { state: 'proposed' }, 0, 'withdrawn'],
  ['that is approved', { state: 'approved' }, 1_800_000, 'approved'],
])('a request %s ends as it should: %#', async (_, known, laterMs, state) => {
  const { clock, states, open } = await givenBook({ plan, ...known });
  const { book, entry } = await open();
  clock.ms += laterMs;

  await book.endIfOverdue(entry);

  const isOver = state !== (known.state ?? 'pending');
  expect(entry.stored).toMatchObject({ request: { state }, sealed: isOver ? null : { person: 'alice' } });
  // Objects are large, and change.
  expect(entry.stored.request.plan.steps[0]?.current).toEqual(isOver ? null : current);
  expect(states).toEqual(isOver ? [state] : []);
});

it('does not end what another exporter with the same audit has decided meanwhile', async () => {
  const { clock, states, open } = await givenBook();
  const [first, second] = [await open(), await open()];
  await first.book.move(first.entry, 'denied', { decision: { by: 'bob', what: 'denied', reason: null } });
  clock.ms += 3_600_000;

  await second.book.endIfOverdue(second.entry);

  expect(states).toEqual(['denied']);
  expect(second.entry.stored.request.state).toBe('denied');
});

it('says of a request whose records are gone that its outcome is not known', () => {
  expect(endingOf('executing', { facts: [], steps: [] }, []).state).toBe('uncertain');
  expect(endingOf('approved', { facts: [], steps: [] }, []).state).toBe('failed');
});

it('asks the audit only for the records of the request that a stopped exporter left behind', async () => {
  const { id } = givenRequest();
  // Another request was answered; of this one the call is under way.
  const { open } = await givenBook({ state: 'executing' }, [
    { request: id, event: 'change_request', state: 'executing' },
    { request: id, event: 'intent' },
    { request: 'cr-bbbbbbbbbb', event: 'outcome', status: 200 },
  ]);
  const { book, sweep } = await open();

  await sweep();

  expect(book.requests).toMatchObject([{ state: 'uncertain' }]);
});

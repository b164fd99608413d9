import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createPrincipals } from '../../../src/gateway/principal.ts';
import type { AuditLine } from '../../../src/audit/record.ts';
import { endingOf, sweep } from '../../../src/approvals/carry-out.ts';
import type { ApprovalsCore } from '../../../src/approvals/rights.ts';
import { createRequestFolder, RequestBook } from '../../../src/approvals/request-book.ts';
import { givenFolder } from '../../support/folder.ts';
import { givenEntry } from '../../support/given-principal.ts';
import { created, givenRequest } from './given-request.ts';

const request = givenRequest();
const token = givenEntry('alice-token', { name: 'alice', role: 'operator', person: 'alice' });

it('does not end what another exporter with the same audit has decided meanwhile', async () => {
  const folder = givenFolder();
  const clock = { ms: created };
  const states: (string | undefined)[] = [];
  const open = () =>
    RequestBook.open({
      folder: createRequestFolder(folder),
      principals: createPrincipals([token], () => clock.ms),
      recorder: { record: () => Promise.reject(new Error('no person acts here')) },
      journal: {
        append(record) {
          states.push(record.state);
          return Promise.resolve({ seq: 1, hash: '' });
        },
      },
      metrics: { changeRequests: () => undefined, changeRequestEnded: () => undefined },
      now: () => clock.ms,
      log: pino({ level: 'silent' }),
    });
  const draft = await createRequestFolder(folder).draft({ request, sealed: { person: 'alice', salt: '' } });
  await draft.keep();
  const [first, second] = [await open(), await open()];
  await first.move(first.find(request.id)!, 'denied', { decision: { by: 'bob', what: 'denied', reason: null } });
  clock.ms += 3_600_000;

  const entry = second.find(request.id)!;
  await second.endIfOverdue(entry);

  expect(states).toEqual(['denied']);
  expect(entry.stored.request.state).toBe('denied');
});

it('says of a request whose records are gone that its outcome is not known', () => {
  expect(endingOf('executing', { facts: [], steps: [] }, []).state).toBe('uncertain');
  expect(endingOf('approved', { facts: [], steps: [] }, []).state).toBe('failed');
});

it('asks the audit only for the records of the request that a stopped exporter left behind', async () => {
  const folder = createRequestFolder(givenFolder());
  const stored = { request: { ...request, state: 'executing' as const }, sealed: { person: 'alice', salt: '' } };
  await (await folder.draft(stored)).keep();
  const parts = {
    folder,
    principals: createPrincipals([token], () => created),
    recorder: { record: () => Promise.reject(new Error('no person acts here')) },
    metrics: { changeRequests: () => undefined, changeRequestEnded: () => undefined },
    now: () => created,
    log: pino({ level: 'silent' }),
  };
  // Another request was answered; of this one the call is under way.
  const records = [
    { request: request.id, event: 'change_request', state: 'executing' },
    { request: request.id, event: 'intent' },
    { request: 'cr-bbbbbbbbbb', event: 'outcome', status: 200 },
  ] as unknown as readonly AuditLine[];
  const journal: ApprovalsCore['journal'] = {
    append: () => Promise.resolve({ seq: 1, hash: '' }),
    query: ({ request: id }) => Promise.resolve(records.filter((each) => id === undefined || each.request === id)),
  };
  const book = await RequestBook.open({ ...parts, journal });

  await sweep({ ...parts, journal, book } as unknown as ApprovalsCore);

  expect(book.requests).toMatchObject([{ state: 'uncertain' }]);
});

import { pino } from 'pino';
import { Journal } from '../../../src/admin/journal/journal.ts';
import { noRequest } from '../../../src/admin/journal/record.ts';

/**
 * A process that writes records and changes into a journal, several at a time, until it is killed.
 * Says a line of each that is acknowledged: `CHANGE STATE`. A change counts its states, and each
 * state has a record of its own.
 */
const [file = ''] = process.argv.slice(2);
const storedText = (state: number): string => JSON.stringify({ change: { state: String(state) } });
const log = pino({ level: 'silent' });
const journal = new Journal({
  file,
  now: Date.now,
  log,
  recordLog: log,
  onAppended: () => undefined,
  onFailed: () => undefined,
});

const found = Promise.withResolvers<ReadonlyMap<string, string>>();
journal.onOpened(({ changes }) => found.resolve(changes));
await journal.open();
const changes = await found.promise;

async function move(id: string, from: number): Promise<void> {
  for (let state = from + 1; ; state += 1) {
    await journal.append(
      { ...noRequest, event: 'change', request: id, state: String(state), reason: 'x'.repeat((state * 997) % 3_000) },
      { changes: new Map([[id, storedText(state)]]) },
    );
    process.stdout.write(`${id} ${state}\n`);
  }
}

/** Returns the states that a change has had, by its text. */
function stateOf(text = storedText(0)): number {
  return Number((JSON.parse(text) as { readonly change: { readonly state: string } }).change.state);
}

await Promise.all(['a', 'b', 'c', 'd'].map((id) => move(id, stateOf(changes.get(id)))));

import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { Journal } from '../../../src/admin/journal/journal.ts';
import { noRequest } from '../../../src/admin/journal/record.ts';

/** A process that writes a record into a journal for each line of its standard input. */
const [file = ''] = process.argv.slice(2);
const journal = new Journal({
  file,
  now: Date.now,
  log: pino({ level: 'silent' }),
  recordLog: pino({ level: 'silent' }),
  onAppended: () => undefined,
  onFailed: () => undefined,
});
console.log('ready');
for await (const line of createInterface(process.stdin)) {
  const written = journal.append({ ...noRequest, event: 'started', reason: line });
  console.log(
    await written.then(
      ({ seq }) => `written ${seq}`,
      (error: unknown) => `refused ${(error as Error).message}`,
    ),
  );
}
await journal.close();

import { pino } from 'pino';
import { Journal } from '../../../src/admin/journal/journal.ts';
import { noRequest } from '../../../src/admin/journal/record.ts';

/** A process that writes five records into a journal, and says a line of each acknowledged one. */
const [file = ''] = process.argv.slice(2);
const log = pino({ level: 'silent' });
const nothing = (): undefined => undefined;
const journal = new Journal({ file, now: Date.now, log, recordLog: log, onAppended: nothing, onFailed: nothing });

for (const request of ['1', '2', '3', '4', '5']) {
  await journal.append({ ...noRequest, event: 'change', request });
  process.stdout.write('acknowledged\n');
}
await journal.close();

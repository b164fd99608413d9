import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { AuditError } from '../../../src/audit/record.ts';
import { createAuditJournal } from '../../../src/audit/journal.ts';

/**
 * A process that appends as fast as it can, and prints the number and the request of each line that
 * it was told is on disk.
 */
const [file = '', maxBytes, lanes] = process.argv.slice(2);
const journal = createAuditJournal({
  file,
  maxBytes: Number(maxBytes),
  now: Date.now,
  log: pino({ level: 'silent' }),
  onAppended: () => undefined,
  onFailed: () => undefined,
});

await Promise.all(Array.from({ length: Number(lanes) }, appendForEver));

async function appendForEver(): Promise<never> {
  for (;;) {
    const request = randomUUID();
    try {
      const { seq } = await journal.append({
        event: 'intent',
        request,
        principal: 'ann',
        role: 'admin',
        method: 'PUT',
        path: '/farms/shop/actions',
        body: { action: 'restart' },
      });
      await print(`${seq} ${request}`);
    } catch (error) {
      if (!(error instanceof AuditError)) throw error;
      await print(`failed ${error.reason}`);
    }
  }
}

async function print(line: string): Promise<void> {
  await new Promise((resolve) => process.stdout.write(`${line}\n`, resolve));
}

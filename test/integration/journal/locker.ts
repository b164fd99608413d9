import { createInterface } from 'node:readline';
import { AuditError } from '../../../src/admin/journal/record.ts';
import { type Lock, takeLock } from '../../../src/admin/journal/lock.ts';

/**
 * A process that takes and releases the lock of an audit as its standard input says, a line each.
 */
const [file = ''] = process.argv.slice(2);
let lock: Lock | undefined;

console.log('ready');
for await (const line of createInterface(process.stdin)) {
  const [verb, time] = line.split(' ');
  if (verb === 'take') console.log(await take(Number(time)));
  if (verb === 'release') {
    await lock?.release();
    lock = undefined;
    console.log('released');
  }
}

/** Begins at that Unix time in ms, so that several processes begin in the same one. */
async function take(time: number): Promise<string> {
  while (Date.now() < time);
  try {
    lock = await takeLock(file, Date.now);
    return 'taken';
  } catch (error) {
    if (!(error instanceof AuditError)) throw error;
    return `refused ${error.message}`;
  }
}

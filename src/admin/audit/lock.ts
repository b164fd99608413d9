import { randomUUID } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { errorCode } from '../../lib/check.ts';
import { AuditError } from './audit-error.ts';

/** The sole right to write an audit. */
export interface Lock {
  release(): Promise<void>;
}

/** A process, told from a later one with the same number by when it started. */
interface Holder {
  readonly pid: number;
  readonly started: string;
}

/**
 * Rejects with an AuditError while another process lives that has the lock. A process of another container is not seen; the
 * journal notices the lines it writes.
 */
export async function takeLock(file: string): Promise<Lock> {
  const path = `${file}.lock`;
  const own = `${process.pid} ${await startOf(process.pid)} ${randomUUID()}\n`;
  const holder = parseHolder(await textOf(path));
  if (holder && (await isAlive(holder))) throw locked(file, holder);
  await rm(path, { force: true });
  try {
    const handle = await open(path, 'wx', 0o600);
    try {
      await handle.writeFile(own);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw locked(file, undefined);
    throw error;
  }
  return {
    async release() {
      if ((await textOf(path)) === own) await rm(path, { force: true });
    },
  };
}

function locked(file: string, holder: Holder | undefined): AuditError {
  const who = holder ? `process ${holder.pid}` : 'another process';
  return new AuditError(
    'unwritable',
    `cannot write the audit ${file}: ${who} writes to it; stop that one, or give each exporter an admin.audit_file of its own`,
  );
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function parseHolder(text: string): Holder | undefined {
  const [, pid, started = ''] = /^(\d{1,10}) (\d*) \S+\n$/.exec(text) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), started };
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  const startedNow = await startOf(pid);
  // In a container every exporter is process 1, the one before the restart too.
  if (startedNow !== '') return startedNow === started;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Clock ticks from the start of the system to that of a process; empty where the system does not tell. */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name of the program in brackets, which may hold anything; the 22nd is the start.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

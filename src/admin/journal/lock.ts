import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { errorCode, isRecord, parseJson } from '../../lib/check.ts';
import { FileKindError, ifMissing, kindOf, writeSynced } from '../../lib/disk.ts';
import { AuditError } from './record.ts';

/** The sole right to write an audit. It ends with the process, however that ends. */
export interface Lock {
  /**
   * Resolves to false once another process has entered itself as the writer; nothing may be written
   * then.
   */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** The process that holds the lock, as its file `.writer` describes it to people. */
interface Writer {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** The number that `lsns -t pid` prints; empty if the system has none. */
  readonly pidNamespace: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

/**
 * Takes the lock of an audit, or rejects with an AuditError that names its holder. The kernel keeps
 * the lock on the empty file `.lock`: it holds between containers, lasts while its process is
 * paused, and is free as soon as that is dead. See docs/decisions/audit-lock.md.
 */
export async function takeLock(file: string, now: () => number): Promise<Lock> {
  const path = `${file}.lock`;
  const writerPath = `${file}.writer`;
  // SQLite blocks the process while it opens a file. A disk that does not answer must be noticed
  // before that.
  await readWriter(writerPath);
  await refuseOther(path, file);
  const unlock = await lockFile(path, file);
  if (!unlock) throw heldBy(await readWriter(writerPath), file);
  const own = await describeOwn(now());
  try {
    await writeSynced(`${writerPath}.new`, `${JSON.stringify(own)}\n`);
    await rename(`${writerPath}.new`, writerPath);
  } catch (error) {
    unlock();
    throw error;
  }
  const isHeld = async (): Promise<boolean> => (await readWriter(writerPath))?.id === own.id;
  return {
    isHeld,
    async release() {
      try {
        if (await isHeld()) await rm(writerPath, { force: true });
      } finally {
        unlock();
      }
    },
  };
}

async function refuseOther(path: string, file: string): Promise<void> {
  const status = await stat(path).catch(ifMissing);
  if (status && !status.isFile()) throw new FileKindError(`${path} is a ${kindOf(status)}, not a regular file`);
  if (status && status.size > 0)
    throw untakable(file, 'it is not empty; stop the older exporter that made it, then remove it');
}

/**
 * Locks a file by `fcntl`, which Node.js reaches through SQLite alone; undefined while another
 * process or another journal of this one has it. The result gives it back.
 */
async function lockFile(path: string, file: string): Promise<(() => void) | undefined> {
  // Loaded when an audit is opened: Node.js before 24.15 warns of an experimental module, and some
  // are built without it.
  const { DatabaseSync } = await import('node:sqlite');
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    makeEmpty(path);
    const opened = new DatabaseSync(path, { timeout: 0 });
    database = opened;
    // Only one process can have the lock for writing that BEGIN IMMEDIATE takes. Nothing is ever
    // committed, so the file stays empty. The last statement fails if the file is read-only, where
    // BEGIN IMMEDIATE would lock nothing.
    opened.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE; PRAGMA user_version = 1');
    return () => opened.close();
  } catch (error) {
    database?.close();
    if (!isRecord(error) || typeof error.errcode !== 'number') throw error;
    // The low byte is the kind of error, the others are details of it.
    if (error.errcode % 256 === sqliteBusy) return undefined;
    throw untakable(file, `${String(error.errstr)}; check its rights and its file system`);
  }
}

/**
 * Makes the file of the lock. It is never removed: another process may be taking it. Once it
 * exists, only SQLite opens it: a process loses its locks on a file when it closes any descriptor
 * of it. Synchronous, so that no other journal of this process locks it before it is closed here.
 */
function makeEmpty(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** SQLITE_BUSY of sqlite3.h. */
const sqliteBusy = 5;

async function describeOwn(nowMs: number): Promise<Writer> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return {
    id: randomUUID(),
    pid: process.pid,
    host: hostname(),
    pidNamespace: /\d+/.exec(namespace)?.[0] ?? '',
    since: new Date(nowMs).toISOString(),
  };
}

async function readWriter(path: string): Promise<Writer | undefined> {
  const value = parseJson((await readFile(path).catch(ifMissing)) ?? '');
  return isWriter(value) ? value : undefined;
}

function isWriter(value: unknown): value is Writer {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.pid) &&
    [value.id, value.host, value.pidNamespace, value.since].every((member) => typeof member === 'string')
  );
}

function heldBy(writer: Writer | undefined, file: string): AuditError {
  const who = writer
    ? `process ${writer.pid} on ${writer.host}${writer.pidNamespace === '' ? '' : ` (PID namespace ${writer.pidNamespace})`} has written it since ${writer.since}`
    : `another process has locked ${file}.lock, or its file system has no locks`;
  return new AuditError(
    'locked',
    `cannot write the audit ${file}: ${who}; stop that exporter, or give each one an admin.audit_file of its own; the next call tries again`,
  );
}

function untakable(file: string, what: string): AuditError {
  return new AuditError('unwritable', `cannot write the audit ${file}: its lock ${file}.lock cannot be taken: ${what}`);
}

import { errorCode } from '../../lib/check.ts';
import { openRegularFile } from '../../lib/regular-file.ts';
import { createChain } from './chain.ts';
import { checkFile, type LineFault } from './check-file.ts';
import type { AuditLine } from './record.ts';
import { createUnfinished } from './unfinished.ts';

/** Something wrong in a file, or with a file as a whole. */
export interface Fault extends Omit<LineFault, 'line'> {
  readonly file: string;
  readonly line?: number;
}

export interface ReadChain {
  /** Those that are there, the oldest first. */
  readonly files: readonly string[];
  readonly lines: number;
  readonly first?: AuditLine;
  readonly last?: AuditLine;
  readonly faults: readonly Fault[];
  /** An unfinished line at the end of the file that may have one; not among the faults. */
  readonly torn?: Fault;
  /** Ids of requests that have an intent and no outcome. */
  readonly unfinished: readonly string[];
}

/** Reads files that follow one another as one chain, without writing to them; only `growing` is still written to. */
export async function readChain(
  paths: readonly string[],
  growing: string | undefined,
  onLine: (line: AuditLine) => void,
): Promise<ReadChain> {
  const chain = createChain();
  const unfinished = createUnfinished();
  const files: string[] = [];
  const faults: Fault[] = [];
  let torn: Fault | undefined;
  let first: AuditLine | undefined;
  let lines = 0;

  for (const path of paths) {
    const handle = await openRegularFile(path).catch(ifMissing);
    if (!handle) continue;
    files.push(path);
    try {
      const check = await checkFile(handle, chain, (line) => {
        lines += 1;
        first ??= line;
        unfinished.pass(line);
        onLine(line);
      });
      for (const fault of check.faults) faults.push({ file: path, ...fault });
      if (!check.torn) continue;
      const cut = { file: path, line: check.torn.line, what: `breaks off after ${check.torn.bytes} bytes` };
      // A file that was put aside had all its lines.
      if (path === growing) torn = cut;
      else faults.push(cut);
    } finally {
      await handle.close();
    }
  }

  const { last } = chain;
  return {
    files,
    lines,
    ...(first ? { first } : {}),
    ...(last ? { last } : {}),
    faults,
    ...(torn ? { torn } : {}),
    unfinished: unfinished.requests,
  };
}

function ifMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}

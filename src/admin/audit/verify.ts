import { open } from 'node:fs/promises';
import { errorCode } from '../../lib/check.ts';
import { createChain } from './chain.ts';
import { checkFile, type LineFault } from './check-file.ts';
import { createHeadCheck } from './head-check.ts';
import { type FoundHead, headPath, readHead } from './kept-head.ts';
import { genesis } from './line.ts';
import type { AuditLine } from './record.ts';
import { rotatedFiles } from './rotated-files.ts';

/** Something wrong in a file, or with a file as a whole. */
export interface Fault extends Omit<LineFault, 'line'> {
  readonly file: string;
  readonly line?: number;
}

export interface Verification {
  /** Those that were read, the oldest first. */
  readonly files: readonly string[];
  readonly lines: number;
  readonly first?: AuditLine;
  readonly last?: AuditLine;
  /** The audit is whole when there are none. */
  readonly faults: readonly Fault[];
  /** A line that a killed process left unfinished; the next one that writes to the audit puts it right. */
  readonly torn?: Fault;
  /** Ids of requests whose outcome is not known: they may have reached the appliance. */
  readonly unfinished: readonly string[];
}

/** Reads a whole audit, files that were put aside included, without writing to it; rejects when a file cannot be read. */
export async function verifyAudit(file: string): Promise<Verification> {
  // Before the lines: those that are written meanwhile are beyond it.
  const head = await readHead(file).catch(ifMissing('none' as const));
  const rotated = await rotatedFiles(file);
  const verification = await verifyFiles(
    rotated.map(({ path }) => path),
    file,
    head,
  );
  const wasRotated = (await rotatedFiles(file)).length !== rotated.length;
  return wasRotated ? await verifyAudit(file) : verification;
}

async function verifyFiles(older: readonly string[], file: string, head: FoundHead): Promise<Verification> {
  const chain = createChain();
  const headCheck = createHeadCheck(head, genesis);
  const files: string[] = [];
  const faults: Fault[] = [];
  const unfinished = new Set<string>();
  let torn: Fault | undefined;
  let first: AuditLine | undefined;
  let lines = 0;

  for (const path of [...older, file]) {
    const handle = await open(path, 'r').catch(ifMissing(undefined));
    if (!handle) continue;
    files.push(path);
    try {
      const check = await checkFile(handle, chain, (line) => {
        lines += 1;
        first ??= line;
        headCheck.pass(line);
        if (line.event === 'intent') unfinished.add(line.request);
        if (line.event === 'outcome') unfinished.delete(line.request);
      });
      for (const fault of check.faults) faults.push({ file: path, ...fault });
      if (!check.torn) continue;
      const cut = { file: path, line: check.torn.line, what: `breaks off after ${check.torn.bytes} bytes` };
      // A file that was put aside had all its lines.
      if (path === file) torn = cut;
      else faults.push(cut);
    } finally {
      await handle.close();
    }
  }

  const { last } = chain;
  const headFault = headCheck.faultAt(last?.seq ?? 0);
  if (headFault !== undefined) faults.push({ file: headPath(file), what: headFault });
  if (files.length === 0 && head === 'none') faults.push({ file, what: 'is not there' });
  return {
    files,
    lines,
    ...(first ? { first } : {}),
    ...(last ? { last } : {}),
    faults,
    ...(torn ? { torn } : {}),
    unfinished: [...unfinished],
  };
}

function ifMissing<Instead>(instead: Instead): (error: unknown) => Instead {
  return (error) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    return instead;
  };
}

import { ifMissing, openRegularFile } from '../../lib/disk.ts';
import {
  checkFile,
  Chain,
  createHeadCheck,
  type FoundHead,
  genesis,
  headPath,
  type LineFault,
  noteUnfinished,
  readHead,
} from './chain.ts';
import { rotatedFiles, seqInName } from './file.ts';
import type { AuditLine } from './record.ts';

/**
 * The result: an audit without faults is whole. A torn line is no fault: the next writer recovers
 * it.
 */
export interface Verification extends ReadChain {
  /** True for one rotated file: the outcomes of its requests may be in the next one. */
  readonly isPart: boolean;
  /** True if no line is there and nothing says that there ever was one; the only fault says why. */
  readonly isEmpty: boolean;
}

/**
 * Reads a whole audit with its rotated files, or one rotated file alone, and writes nothing.
 * Rejects if a file cannot be read.
 */
export async function verifyAudit(file: string): Promise<Verification> {
  const lastSeq = seqInName(file);
  if (lastSeq !== undefined) return await verifyPart(file, lastSeq);
  // Before the lines: those that are written meanwhile are beyond it.
  const head = await readHead(file);
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
  const headCheck = createHeadCheck(head, genesis);
  const read = await readChain([...older, file], file, (line) => headCheck.pass(line));
  const faults: AuditFault[] = [...read.faults];
  const headFault = headCheck.faultAt(read.last?.seq ?? 0);
  if (headFault !== undefined) faults.push({ file: headPath(file), what: headFault });
  const isEmpty = read.lines === 0 && faults.length === 0;
  if (isEmpty) faults.push({ file, what: whyEmpty(read) });
  return { ...read, faults, isPart: false, isEmpty };
}

async function verifyPart(file: string, lastSeq: number): Promise<Verification> {
  const read = await readChain([file], undefined, () => undefined);
  const what = faultOfEnd(read, lastSeq);
  const faults = what === undefined ? read.faults : [...read.faults, { file, what }];
  return { ...read, faults, isPart: true, isEmpty: read.lines === 0 && read.faults.length === 0 };
}

function whyEmpty({ files, torn }: ReadChain): string {
  if (files.length === 0) return 'is not there';
  return torn ? 'has no finished line' : 'is empty';
}

/** Compares the last line with the name of a rotated file, which serves as its head. */
function faultOfEnd({ files, last }: ReadChain, lastSeq: number): string | undefined {
  if (files.length === 0) return 'is not there';
  if (!last) return 'has no line of an audit';
  return last.seq === lastSeq ? undefined : `ends with number ${last.seq} and not with ${lastSeq}, as its name says`;
}

/** A fault in a file, or of a file as a whole. */
export interface AuditFault extends Omit<LineFault, 'line'> {
  readonly file: string;
  readonly line?: number;
}

export interface ReadChain {
  /** Existing ones, the oldest first. */
  readonly files: readonly string[];
  readonly lines: number;
  readonly first: AuditLine | undefined;
  readonly last: AuditLine | undefined;
  readonly faults: readonly AuditFault[];
  /** An unfinished line at the end of the file that may have one; not among the faults. */
  readonly torn: AuditFault | undefined;
  /** Ids of requests that have an intent and no outcome. */
  readonly unfinished: readonly string[];
}

/**
 * Reads files that follow one another as one chain, without writing to them; only `growing` is
 * still written to.
 */
async function readChain(
  paths: readonly string[],
  growing: string | undefined,
  onLine: (line: AuditLine) => void,
): Promise<ReadChain> {
  const chain = new Chain();
  const unfinished = new Set<string>();
  const files: string[] = [];
  const faults: AuditFault[] = [];
  let torn: AuditFault | undefined;
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
        noteUnfinished(unfinished, line);
        onLine(line);
      });
      for (const fault of check.faults) faults.push({ file: path, ...fault });
      if (!check.torn) continue;
      const cut = { file: path, line: check.torn.line, what: `breaks off after ${check.torn.bytes} bytes` };
      // A rotated file had all its lines.
      if (path === growing) torn = cut;
      else faults.push(cut);
    } finally {
      await handle.close();
    }
  }

  return { files, lines, first, last: chain.last, faults, torn, unfinished: [...unfinished] };
}

import { errorCode } from '../../lib/check.ts';
import { createHeadCheck } from './head-check.ts';
import { type FoundHead, headPath, readHead } from './kept-head.ts';
import { genesis } from './line.ts';
import { type Fault, type ReadChain, readChain } from './read-chain.ts';
import { rotatedFiles, seqInName } from './rotated-files.ts';

/** The audit is whole when there are no faults; a torn line the next one that writes to the audit puts right. */
export interface Verification extends ReadChain {
  /** True for one file that was put aside: its unfinished requests may go on in the next. */
  readonly isPart: boolean;
  /** True if no line is there and nothing says that there ever was one; the only fault says why. */
  readonly isEmpty: boolean;
}

/**
 * Reads a whole audit, files that were put aside included, without writing to it, or one file that was put aside by
 * itself; rejects when a file cannot be read.
 */
export async function verifyAudit(file: string): Promise<Verification> {
  const lastSeq = seqInName(file);
  if (lastSeq !== undefined) return await verifyPart(file, lastSeq);
  // Before the lines: those that are written meanwhile are beyond it.
  const head = await readHead(file).catch(noneIfMissing);
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
  const read = await readChain([...older, file], file, headCheck.pass);
  const faults: Fault[] = [...read.faults];
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

/** The name of a file that was put aside does what the head does for the whole. */
function faultOfEnd({ files, last }: ReadChain, lastSeq: number): string | undefined {
  if (files.length === 0) return 'is not there';
  if (!last) return 'has no line of an audit';
  return last.seq === lastSeq ? undefined : `ends with number ${last.seq} and not with ${lastSeq}, as its name says`;
}

function noneIfMissing(error: unknown): FoundHead {
  if (errorCode(error) !== 'ENOENT') throw error;
  return 'none';
}

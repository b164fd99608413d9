import { createReadStream } from 'node:fs';
import { maxBodyBytes } from '../../admin/calls/body-memory.ts';
import type { Operation } from '../../admin/policy/operation.ts';
import { withHint } from '../../config/files.ts';
import { errorCode, isRecord, parseJson } from '../../lib/check.ts';
import { readWhole } from '../../lib/growing-buffer.ts';
import { oneLine } from '../../lib/text.ts';
import { type Shell, UsageError } from '../command.ts';
import { maskedTexts } from '../../admin/calls/mask.ts';
import { Secret } from '../../lib/secret.ts';
import type { Assignment } from './words.ts';
import { bodyTypes } from '../../admin/policy/operation.ts';
import type { Content } from '../../admin/recipes/calls.ts';

/**
 * Returns the body of a call: a file, or the remaining values as a JSON object. Throws a
 * UsageError.
 */
export async function contentFromFlags(
  { operationId, row: { body: kind } }: Operation,
  fields: readonly Assignment[],
  source: string | undefined,
  { input }: Pick<Shell, 'input'>,
): Promise<Content | undefined> {
  const [stray] = fields;
  if (kind === 'none') {
    if (source !== undefined) throw new UsageError(`${operationId} takes no body; leave --body out`);
    if (stray)
      throw new UsageError(`${operationId} takes no body, so there is no place for ${oneLine(stray.name, 64)}`);
    return undefined;
  }
  if (source !== undefined) {
    if (stray) throw new UsageError(`give either --body or ${oneLine(stray.name, 64)}=…, not both`);
    const bytes = await readSource(source, input);
    if (kind === 'json' && !isRecord(parseJson(bytes)))
      throw new UsageError('the body is not a JSON object, and the appliance would fail on it; write {"name":"value"}');
    return { type: bodyTypes[kind][0], bytes };
  }
  if (kind !== 'json')
    throw new UsageError(`${operationId} takes a file: --body=@PATH, or --body=- for standard input`);
  return { type: bodyTypes.json[0], bytes: Buffer.from(JSON.stringify(fieldsOf(fields))) };
}

function fieldsOf(fields: readonly Assignment[]): Readonly<Record<string, unknown>> {
  const body = new Map<string, unknown>();
  for (const { name, value } of fields) {
    if (body.has(name)) throw new UsageError(`${oneLine(name, 64)} is given twice; lists are ${name}:='["a","b"]'`);
    body.set(name, value);
  }
  return Object.fromEntries(body);
}

async function readSource(source: string, input: Shell['input']): Promise<Buffer> {
  if (source === '-') return await readWhole(input, maxBodyBytes, () => tooLong('--body: standard input'));
  if (!source.startsWith('@')) throw new UsageError('--body is @PATH for a file, or - for standard input');
  return await readBytes(source.slice(1), '--body');
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission to read it',
  EPERM: 'you have no permission to read it',
};

/**
 * Reads a file, which may be a pipe such as that of `<(…)`; throws a UsageError that names the flag or
 * value with the path (`what`).
 */
async function readBytes(path: string, what: string): Promise<Buffer> {
  try {
    return await readWhole(createReadStream(path), maxBodyBytes, () => tooLong(`${what}: the file`));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = errorCode(error);
    const problem = { error: `the file cannot be read: ${reasons[code] ?? code}`, code };
    throw new UsageError(`${what}: ${withHint(problem, path).error}`);
  }
}

function tooLong(what: string): UsageError {
  return new UsageError(
    `${what} is longer than ${maxBodyBytes / 1_048_576} MiB, the most that the gateway takes. Check what is given; for a longer backup see docs/admin.md, Large files`,
  );
}

export async function readText(path: string, what: string): Promise<string> {
  return (await readBytes(path, what)).toString();
}

/** A shorter secret would match parts of ordinary words. */
const minSecretLength = 4;

/**
 * Returns a function that masks the passwords and keys of a request body in a text: appliances
 * repeat them in their responses.
 */
export function createRedactor(content: Content | undefined): (text: string) => string {
  const body = content?.type === bodyTypes.json[0] ? parseJson(content.bytes) : undefined;
  const texts = maskedTexts(body).filter((text) => text.length >= minSecretLength);
  const secrets = texts.flatMap((text) => [
    new Secret(text),
    // The spelling in JSON.
    new Secret(JSON.stringify(text).slice(1, -1)),
  ]);
  return (text) => secrets.reduce((shown, secret) => secret.scrub(shown), text);
}

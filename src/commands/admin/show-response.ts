import type { Readable } from 'node:stream';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { errorCode, isRecord, parseJson, toError } from '../../lib/check.ts';
import { OutputError, type Shell, UsageError } from '../command.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import { applianceError } from '../../admin/recipes/calls.ts';
import { type GatewayResponse, truncated } from './gateway-client.ts';
import { renderJson, renderText, printLines } from './render.ts';
import type { AdminSession } from './session.ts';

/** Prints or saves a response; rejects with an {@link AdminError} when the appliance refused. */
export async function showResponse(
  response: GatewayResponse,
  appliance: string,
  { flags, printOut, printErr, shell }: AdminSession,
  output: OutputFile | undefined,
): Promise<void> {
  if (response.status >= 400) throw applianceError({ ...response, body: await response.readBody() }, appliance);
  if (output) {
    printOut(`${await output.save(response.body)} bytes are saved.`);
    return;
  }
  if (!isText(response) && shell.outputIsTerminal) {
    response.body.destroy();
    throw new AdminError('The answer is a file', {
      detail: 'It is not shown on a terminal: it may hold keys and control characters.',
      remedy: 'Repeat it with --output=FILE.',
    });
  }
  if (flags.json || !isText(response)) {
    await writeBody(response.body, shell);
    return;
  }
  printLines(linesOf(response.status, (await response.readBody()).toString()), { printOut, printErr });
}

async function writeBody(body: Readable, { write }: Shell): Promise<void> {
  try {
    for await (const chunk of body) await write(chunk as Buffer);
  } catch (error) {
    if (error instanceof OutputError) throw error;
    // The reader of a pipe may close it early, as `head` does.
    if (errorCode(error) !== 'EPIPE') throw truncated(error);
  }
}

/** Returns true for a response in JSON or text that is not a file to save. */
function isText({ attachment, mediaType }: GatewayResponse): boolean {
  return !attachment && /^(?:text\/.*|application\/json|)$/.test(mediaType);
}

function linesOf(status: number, text: string): readonly string[] {
  const value = parseJson(text);
  const lines = isRecord(value) || Array.isArray(value) ? renderJson(value) : renderText(text);
  return lines.some((line) => line !== '') ? lines : [`Done (${status}).`];
}

/**
 * A file that exists before the request is sent, so that no response is lost because it cannot be
 * saved.
 */
export interface OutputFile {
  /** Resolves to the number of bytes; rejects with an {@link AdminError}. */
  save(body: Readable): Promise<number>;
  discard(): Promise<void>;
}

/**
 * Creates a file with mode 0600, because downloads hold keys and passwords; rejects when it exists.
 */
export async function createOutputFile(path: string): Promise<OutputFile> {
  let file: FileHandle;
  try {
    file = await open(path, 'wx', 0o600);
  } catch (error) {
    throw new UsageError(
      errorCode(error) === 'EEXIST'
        ? '--output: the file exists already, and is not overwritten; choose another name'
        : `--output: the file cannot be made (${errorCode(error)})`,
    );
  }
  return {
    async save(body) {
      try {
        // Writes through the descriptor: another file may have the name by now. Flushes before it
        // reports success.
        const target = file.createWriteStream({ flush: true });
        await pipeline(body, target);
        return target.bytesWritten;
      } catch (error) {
        throw new AdminError('The answer could not be saved', {
          detail: `${toError(error).message}. The incomplete file is removed.`,
          remedy: 'Make room, or repeat it when the connection is back.',
        });
      }
    },
    async discard() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

import type { Readable } from 'node:stream';
import { errorCode, isRecord } from '../../lib/check.ts';
import type { CommandContext, Shell } from '../command.ts';
import { AdminError, parseJson } from './admin-error.ts';
import type { GatewayAnswer } from './gateway-client.ts';
import type { OutputFile } from './output-file.ts';
import { recordsOf, renderJson, renderText } from './render.ts';
import { printLines } from './output.ts';
import { valueText } from './table.ts';
import { truncated } from './read-body.ts';

interface ShowParts extends Pick<CommandContext, 'say' | 'warn' | 'shell'> {
  /** True to print the exact body, for scripts. */
  readonly json: boolean;
  readonly output?: OutputFile | undefined;
}

/** Prints or saves an answer; rejects with an {@link AdminError} when the appliance refused. */
export async function showAnswer(
  answer: GatewayAnswer,
  appliance: string,
  { say, warn, shell, json, output }: ShowParts,
): Promise<void> {
  if (answer.status >= 400) throw applianceError(answer, appliance, await answer.whole());
  if (output) {
    say(`${await output.save(answer.body)} bytes are saved.`);
    return;
  }
  if (!isText(answer) && shell.outputIsTerminal) {
    answer.body.destroy();
    throw new AdminError('The answer is a file', {
      detail: 'It is not shown on a terminal: it may hold keys and control characters.',
      remedy: 'Repeat it with --output=FILE.',
    });
  }
  if (json || !isText(answer)) {
    await copy(answer.body, shell);
    return;
  }
  printLines(linesOf(answer.status, (await answer.whole()).toString()), { say, warn });
}

async function copy(body: Readable, { write }: Shell): Promise<void> {
  try {
    for await (const chunk of body) await write(chunk as Buffer);
  } catch (error) {
    // The reader of a pipe may close it early, as `head` does.
    if (errorCode(error) !== 'EPIPE') throw truncated(error);
  }
}

/** True for an answer in JSON or text that is not a file to save. */
function isText({ attachment, mediaType }: GatewayAnswer): boolean {
  return !attachment && /^(?:text\/.*|application\/json|)$/.test(mediaType);
}

function linesOf(status: number, text: string): readonly string[] {
  const value = parseJson(text);
  const lines = isRecord(value) || Array.isArray(value) ? renderJson(value) : renderText(text);
  return lines.some((line) => line !== '') ? lines : [`Done (${status}).`];
}

/** Makes an error of an appliance's refusal. Takes the message only: a 402 also names the machine's key. */
export function applianceError({ status, requestId }: GatewayAnswer, appliance: string, body: Buffer): AdminError {
  const answer = parseJson(body);
  const message = isRecord(answer) && typeof answer.message === 'string' ? answer.message : '';
  const parameters = status === 400 ? recordsOf(answer, 'params').map(({ name }) => valueText(name)) : [];
  return new AdminError(`${appliance} answered ${status}`, {
    detail: message === '' ? 'It gave no reason.' : message,
    // The appliance answers an empty body with the list of parameters (docs/api.md §1.4).
    remedy:
      parameters.length > 0
        ? `It takes ${parameters.toSorted().join(', ')}; zlb-exporter admin parameters … explains them.`
        : (remedies[status] ?? ''),
    requestId,
    status,
    body,
  });
}

const remedies: Readonly<Record<number, string>> = {
  402: 'The appliance is deactivated: install an activation certificate.',
  403: "The gateway's key may not do this: see the role of its user on the appliance.",
  404: 'Check the names; some calls are missing in some editions and releases.',
};

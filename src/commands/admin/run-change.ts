import type { Readable } from 'node:stream';
import {
  type ChangeEvent,
  ChangeEventSchema,
  type ChangeDryRun,
  ChangeDryRunSchema,
  type ShownChange,
} from '../../admin/changes/change.ts';
import type { ChangeRequest } from '../../admin/changes/task.ts';
import { AdminError } from '../../admin/policy/admin-error.ts';
import { parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { readChange } from './change-lines.ts';
import { type GatewayRequest, parseReply, tooLong } from './gateway-client.ts';
import type { AdminSession } from './session.ts';

/** The body of a request that creates a change; members without a value are left out. */
export type ChangeBody = Pick<ChangeRequest, 'appliance'> & {
  readonly [Name in keyof ChangeRequest]?: ChangeRequest[Name] | undefined;
};

export function postRequest(path: string, value: unknown): GatewayRequest {
  return { method: 'POST', path, content: { type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) } };
}

/** Resolves to the plan of a change; nothing is changed. */
export async function requestPlan(body: ChangeBody, session: Pick<AdminSession, 'client'>): Promise<ChangeDryRun> {
  const response = await session.client.send(postRequest('/changes?dry_run=true', { ...body, run: 'now' }));
  return parseReply(
    ChangeDryRunSchema,
    parseJson(await response.readBody()),
    'The gateway answered with something other than a plan',
  );
}

/** A change that ran while this command waited for it. */
export interface ChangeRun {
  /** Its state when the response ended: it may wait for approval, or go on detached. */
  readonly change: ShownChange;
  /** The lines of its outcome for which no event came. */
  readonly unreported: readonly string[];
}

/** Lets the gateway run a change; calls `onEvent` for each event of its steps. */
export async function runNow(
  body: ChangeBody,
  session: AdminSession,
  onEvent: (event: ChangeEvent) => void,
): Promise<ChangeRun> {
  const response = await session.client.send(postRequest('/changes', { ...body, run: 'now' }));
  if (response.status !== 200) return { change: readChange(parseJson(await response.readBody())), unreported: [] };
  let id: string | undefined;
  let reported = 0;
  try {
    for await (const line of linesOf(response.body)) {
      const event = parseReply(ChangeEventSchema, parseJson(line), 'The gateway sent something other than a step');
      if (event.event === 'started') ({ id } = event.change);
      if (event.event === 'end') reported += 1;
      if (event.event !== 'over') onEvent(event);
      else return { change: event.change, unreported: (event.change.outcome?.lines ?? []).slice(reported) };
    }
  } catch (error) {
    if (error instanceof AdminError) throw error;
  }
  throw interruptedError(id, session.stopped.aborted);
}

/** Returns the error for a response that ended before its change did. */
function interruptedError(id: string | undefined, isInterrupted: boolean): AdminError {
  const what = id === undefined ? 'list' : `show ${oneLine(id, 64)}`;
  return new AdminError(isInterrupted ? 'Interrupted' : 'The gateway stopped answering', {
    detail: isInterrupted
      ? 'No further step is begun. A call that is under way is not taken back.'
      : 'A gateway that was stopped begins no further step, and says after its next start what became of it.',
    remedy: `zlb-exporter admin changes ${what} shows what became of it.`,
  });
}

/** Longer than any plan that a gateway makes. */
const maxLineLength = 8_388_608;

/** Yields the lines of a response, but for the empty ones. */
async function* linesOf(body: Readable): AsyncGenerator<string> {
  let rest = '';
  body.setEncoding('utf8');
  for await (const chunk of body) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw tooLong();
    for (const line of lines) if (line !== '') yield line;
  }
}

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
import { type GatewayRequest, checkedReply, tooLong } from './gateway-client.ts';
import type { AdminSession } from './session.ts';

/** The body of a change; members without a value are left out. */
export type Asking = Pick<ChangeRequest, 'appliance'> & {
  readonly [Name in keyof ChangeRequest]?: ChangeRequest[Name] | undefined;
};

/** Returns the request of a change, or of another path of changes. */
export function post(path: string, value: unknown): GatewayRequest {
  return { method: 'POST', path, content: { type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) } };
}

/** Resolves to the plan of a change; nothing is changed. */
export async function planOf(asked: Asking, session: Pick<AdminSession, 'client'>): Promise<ChangeDryRun> {
  const response = await session.client.send(post('/changes?dry_run=true', { ...asked, run: 'now' }));
  return checkedReply(
    ChangeDryRunSchema,
    parseJson(await response.whole()),
    'The gateway answered with something else than a plan',
  );
}

/** The end of a change that was to run at once. */
export interface Ran {
  /** As it ended, or as it waits, or goes on without us. */
  readonly change: ShownChange;
  /** The lines of its outcome that were not told yet. */
  readonly untold: readonly string[];
}

/** Lets the gateway run a change, and tells what its steps do. */
export async function runNow(asked: Asking, session: AdminSession, tell: (event: ChangeEvent) => void): Promise<Ran> {
  const response = await session.client.send(post('/changes', { ...asked, run: 'now' }));
  if (response.status !== 200) return { change: readChange(parseJson(await response.whole())), untold: [] };
  let id: string | undefined;
  let told = 0;
  try {
    for await (const line of linesOf(response.body)) {
      const event = checkedReply(ChangeEventSchema, parseJson(line), 'The gateway told something else than a step');
      if (event.event === 'started') ({ id } = event.change);
      if (event.event === 'end') told += 1;
      if (event.event !== 'over') tell(event);
      else return { change: event.change, untold: (event.change.outcome?.lines ?? []).slice(told) };
    }
  } catch (error) {
    if (error instanceof AdminError) throw error;
  }
  throw cutShort(id, session.stopped.aborted);
}

/** Returns the error for a response that ended before its change did. */
function cutShort(id: string | undefined, isInterrupted: boolean): AdminError {
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

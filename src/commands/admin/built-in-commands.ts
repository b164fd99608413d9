import type { EndpointRow } from '../../appliance/endpoints/row.ts';
import { endpoints } from '../../appliance/endpoints/table.ts';
import { isRecord } from '../../lib/check.ts';
import { type CommandContext, optionalFlag, UsageError } from '../command.ts';
import { parseJson } from './admin-error.ts';
import type { GatewayRequest } from './gateway-client.ts';
import { recordsOf, renderJson } from './render.ts';
import { reasonHeader } from './request.ts';
import { printLines } from './output.ts';
import type { AdminSession } from './session.ts';
import { pairLines, tableLines, valueText } from './table.ts';

/** A command that the gateway itself answers. */
type BuiltInCommand = (session: AdminSession) => Promise<void>;

export const appliances: BuiltInCommand = (session) =>
  show(session, { method: 'GET', path: '/appliances' }, renderJson);

export const whoami: BuiltInCommand = (session) => show(session, { method: 'GET', path: '/whoami' }, renderJson);

/** Shows the newest records first, in the order of the gateway. */
export const audit: BuiltInCommand = async (session) => {
  const query = new URLSearchParams();
  for (const name of ['limit', 'principal', 'appliance', 'operation', 'event']) {
    const value = optionalFlag(session.flags, name);
    if (value !== undefined) query.set(name, value);
  }
  const path = query.size === 0 ? '/audit' : `/audit?${query.toString()}`;
  await show(session, { method: 'GET', path }, auditLines);
};

export const frozen: BuiltInCommand = (session) => show(session, { method: 'GET', path: '/freeze' }, freezeLines);

export const freeze: BuiltInCommand = async (session) => {
  const reason = optionalFlag(session.flags, 'reason');
  if (reason === undefined)
    throw new UsageError(
      'a freeze needs a reason, which everyone whose change it refuses can read: admin freeze --reason=TEXT',
    );
  await show(session, { method: 'PUT', path: '/freeze', headers: reasonHeader(reason) }, freezeLines);
};

export const unfreeze: BuiltInCommand = (session) =>
  show(
    session,
    { method: 'DELETE', path: '/freeze', headers: reasonHeader(optionalFlag(session.flags, 'reason')) },
    freezeLines,
  );

/** Lists the operations in which every word occurs; needs no gateway. */
export async function listOperations(
  words: readonly string[],
  { flags, say, shell }: Pick<CommandContext, 'flags' | 'say' | 'shell'>,
): Promise<void> {
  const wanted = words.map((word) => word.toLowerCase());
  const found = Object.entries(endpoints)
    .map(([key, { route, risk, body, summary }]: [string, EndpointRow]) => ({ key, route, risk, body, summary }))
    .filter((row) => {
      const text = Object.values(row).join(' ').toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
  if (flags.json === true) {
    await shell.write(Buffer.from(`${JSON.stringify({ operations: found })}\n`));
    return;
  }
  const rows = found.map(({ key, route, risk, body, summary }) => [key, route, risk, body, summary]);
  for (const line of tableLines(['operation', 'route', 'risk', 'body', 'about'], rows)) say(line);
  say('');
  say(`${found.length} of ${Object.keys(endpoints).length} operations.`);
}

/** Sends a request and prints the lines of its answer, or with `--json` the exact answer. */
export async function show(
  { client, flags, say, warn, shell }: AdminSession,
  request: GatewayRequest,
  toLines: (answer: unknown) => readonly string[],
): Promise<void> {
  const text = await (await client.send(request)).whole();
  if (flags.json === true) await shell.write(text);
  else printLines(toLines(parseJson(text)), { say, warn });
}

function auditLines(answer: unknown): readonly string[] {
  const records = recordsOf(answer, 'records');
  if (records.length === 0) return ['No records fit.'];
  return tableLines(
    ['time', 'principal', 'event', 'appliance', 'operation', 'result', 'reason'],
    records.map((record) => [
      record.time,
      record.principal,
      record.event,
      record.appliance,
      record.operation ?? [record.method, record.path].map(valueText).join(' '),
      [record.status, record.code]
        .filter((part) => part !== undefined)
        .map(valueText)
        .join(' '),
      record.reason ?? '',
    ]),
  );
}

function freezeLines(answer: unknown): readonly string[] {
  if (!isRecord(answer) || answer.frozen !== true) return ['Changes are not frozen.'];
  const { by, since, reason } = answer;
  return ['All changes are frozen.', ...pairLines(Object.entries({ by, since, reason }))];
}

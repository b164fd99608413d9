import { isRecord } from '../../lib/check.ts';
import { optionalFlag, UsageError } from '../command.ts';
import { parseJson } from './admin-error.ts';
import type { GatewayRequest } from './gateway-client.ts';
import { recordsOf, renderJson } from './render.ts';
import { reasonHeader } from './request.ts';
import { sayLines } from './say-lines.ts';
import type { AdminSession } from './session.ts';
import { pairLines, tableLines, valueText } from './table.ts';

/** Asks the gateway itself, and shows what it says. */
type GatewayWord = (session: AdminSession) => Promise<void>;

export const appliances: GatewayWord = (session) => show(session, { method: 'GET', path: '/appliances' }, renderJson);

export const whoami: GatewayWord = (session) => show(session, { method: 'GET', path: '/whoami' }, renderJson);

/** Newest first, as the gateway tells it. */
export const audit: GatewayWord = async (session) => {
  const query = new URLSearchParams();
  for (const name of ['limit', 'principal', 'appliance', 'operation', 'event']) {
    const value = optionalFlag(session.flags, name);
    if (value !== undefined) query.set(name, value);
  }
  const path = query.size === 0 ? '/audit' : `/audit?${query.toString()}`;
  await show(session, { method: 'GET', path }, auditLines);
};

export const frozen: GatewayWord = (session) => show(session, { method: 'GET', path: '/freeze' }, freezeLines);

export const freeze: GatewayWord = async (session) => {
  const reason = optionalFlag(session.flags, 'reason');
  if (reason === undefined)
    throw new UsageError('whoever meets the freeze must be able to read why: admin freeze --reason=TEXT');
  await show(session, { method: 'PUT', path: '/freeze', headers: reasonHeader(reason) }, freezeLines);
};

export const unfreeze: GatewayWord = (session) =>
  show(
    session,
    { method: 'DELETE', path: '/freeze', headers: reasonHeader(optionalFlag(session.flags, 'reason')) },
    freezeLines,
  );

/** Shows the answer to a request as the lines made of it, or as it is for scripts. */
export async function show(
  { client, flags, say, warn, shell }: AdminSession,
  request: GatewayRequest,
  toLines: (answer: unknown) => readonly string[],
): Promise<void> {
  const text = await (await client.send(request)).whole();
  if (flags.json === true) await shell.write(text);
  else sayLines(toLines(parseJson(text)), { say, warn });
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

import type { EndpointRow } from '../../appliance/api/row.ts';
import { endpoints } from '../../appliance/api/table.ts';
import { isRecord } from '../../lib/check.ts';
import { type CommandContext, UsageError } from '../command.ts';
import { type GatewayRequest, reasonHeader, appliancePath } from './gateway-client.ts';
import { recordsOf, renderJson } from './render.ts';
import { pairLines, tableLines, valueText } from '../table.ts';
import { type AdminCommand, type AdminSession, sendAndPrint } from './session.ts';
import { quotable, parseTarget } from './words.ts';

interface BuiltInCommand extends Pick<AdminCommand, 'flags'> {
  readonly takesWords?: true;
  readonly run: (session: AdminSession, words: readonly string[]) => Promise<void>;
}

const auditFilters = ['limit', 'principal', 'appliance', 'operation', 'event'] as const;

export const builtInCommands: ReadonlyMap<string, BuiltInCommand> = new Map<string, BuiltInCommand>([
  ['appliances', { flags: ['json'], run: (session) => sendAndPrint(session, get('/appliances'), renderJson) }],
  ['whoami', { flags: ['json'], run: (session) => sendAndPrint(session, get('/whoami'), renderJson) }],
  ['parameters', { flags: ['json'], takesWords: true, run: parameters }],
  ['audit', { flags: ['json', ...auditFilters], run: audit }],
  ['frozen', { flags: ['json'], run: (session) => sendAndPrint(session, get('/freeze'), freezeLines) }],
  ['freeze', { flags: ['json', 'reason'], run: (session) => changeFreeze('PUT', session) }],
  ['unfreeze', { flags: ['json', 'reason'], run: (session) => changeFreeze('DELETE', session) }],
]);

function get(path: string): GatewayRequest {
  return { method: 'GET', path };
}

/** Shows the newest records first, in the order of the gateway. */
async function audit(session: AdminSession): Promise<void> {
  const query = new URLSearchParams();
  for (const name of auditFilters) {
    const value = session.flags[name];
    if (value !== undefined) query.set(name, value);
  }
  await sendAndPrint(session, get(query.size === 0 ? '/audit' : `/audit?${query.toString()}`), auditLines);
}

async function changeFreeze(method: 'PUT' | 'DELETE', session: AdminSession): Promise<void> {
  const headers = reasonHeader(session.flags.reason);
  await sendAndPrint(session, { method, path: '/freeze', headers }, freezeLines);
}

/** Lists the operations in which every word occurs; needs no gateway. */
export async function listOperations(
  words: readonly string[],
  { flags, printOut, shell }: CommandContext,
): Promise<void> {
  const wanted = words.map((word) => word.toLowerCase());
  const found = Object.entries(endpoints)
    .map(([key, { route, risk, body, summary }]: [string, EndpointRow]) => ({ key, route, risk, body, summary }))
    .filter((row) => {
      const text = Object.values(row).join(' ').toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
  if (flags.json) {
    await shell.write(Buffer.from(`${JSON.stringify({ operations: found })}\n`));
    return;
  }
  const rows = found.map(({ key, route, risk, body, summary }) => [key, route, risk, body, summary]);
  for (const line of tableLines(['operation', 'route', 'risk', 'body', 'about'], rows)) printOut(line);
  printOut('');
  printOut(`${found.length} of ${Object.keys(endpoints).length} operations.`);
}

function auditLines(response: unknown): readonly string[] {
  const records = recordsOf(response, 'records');
  if (records.length === 0) return ['No records match.'];
  return tableLines(
    ['time', 'principal', 'event', 'appliance', 'operation', 'result', 'reason'],
    records.map((record) => [
      record.time,
      record.principal,
      record.event,
      record.appliance,
      record.operation ?? routeOf(record),
      [record.state ?? record.status, record.code]
        .filter((part) => part !== undefined)
        .map(valueText)
        .join(' '),
      record.reason ?? '',
    ]),
  );
}

/** Returns the method and path of a record; '' for one that is not about a call. */
function routeOf({ method, path }: Readonly<Record<string, unknown>>): string {
  return path === '-' ? '' : `${valueText(method)} ${valueText(path)}`;
}

function freezeLines(response: unknown): readonly string[] {
  if (!isRecord(response) || response.frozen !== true) return ['Changes are not frozen.'];
  const { by, since, reason, kept } = response;
  const unkept =
    kept === false
      ? ['A restart of the exporter lifts it: its journal cannot be written. Make it writable, and the freeze is kept.']
      : [];
  return ['All changes are frozen.', ...pairLines(Object.entries({ by, since, reason })), ...unkept];
}

/** Shows the parameters of an operation as the appliance describes them. */
async function parameters(session: AdminSession, words: readonly string[]): Promise<void> {
  const [appliance, ...rest] = words;
  if (appliance === undefined)
    throw new UsageError('the appliance and the operation are missing: admin parameters APPLIANCE OPERATION');
  if (rest.length === 0) {
    const named = quotable(appliance);
    throw new UsageError(
      Object.hasOwn(endpoints, appliance)
        ? `the appliance is missing: admin parameters APPLIANCE ${named}`
        : `the operation is missing: admin parameters ${named} OPERATION; zlb-exporter admin operations WORDS finds it`,
    );
  }
  const { call, fields } = parseTarget(rest, session.operations);
  const { operationId, row } = call.operation;
  if (row.body !== 'json')
    throw new UsageError(
      row.body === 'none'
        ? `${operationId} takes no parameters`
        : `${operationId} takes a file and no parameters: --body=@PATH`,
    );
  if (fields.length > 0)
    throw new UsageError(
      `only the values of the path are used here (${operationId} is ${row.route}); leave the others out`,
    );
  const query = new URLSearchParams({ operation: operationId, ...call.params });
  await sendAndPrint(session, get(`${appliancePath(appliance)}/parameters?${query.toString()}`), renderJson);
}

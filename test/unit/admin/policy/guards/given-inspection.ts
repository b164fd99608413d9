import type { ReadKey } from '../../../../../src/appliance/client.ts';
import { decode } from '../../../../../src/appliance/decode.ts';
import type { EndpointRow } from '../../../../../src/appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../../../../src/appliance/api/table.ts';
import { ApplianceError, type FailureReason } from '../../../../../src/appliance/errors.ts';
import type { Farm } from '../../../../../src/appliance/farm.ts';
import type { ReadCache, GuardFinding } from '../../../../../src/admin/policy/guards/guard.ts';
import { inspectCall } from '../../../../../src/admin/policy/guards/inspect.ts';
import { createOperations } from '../../../../../src/admin/policy/operation.ts';

/** Bodies as they come off the wire, or how the read is refused. */
export type Replies = Partial<Readonly<Record<ReadKey, unknown>>>;

/** The names that the paths of a test hold, unless it gives its own. */
const usualParams = { farmname: 'shop', service: 'front', backend: '0', name: 'weekly' };

/** How an appliance says no; a `not_found` as the API itself says it. */
export function refusal(reason: FailureReason): ApplianceError {
  return new ApplianceError(reason, {
    endpoint: '/any',
    message: `GET /any: refused with ${reason}`,
    routeMissing: reason === 'not_found',
  });
}

/**
 * Returns the findings of the guards for a call to an appliance with these replies; a read without
 * one is not found.
 */
export async function inspect(
  key: EndpointKey,
  replies: Replies,
  {
    params = {},
    body = {},
    onLimit,
    answers,
    knownFarms,
  }: {
    params?: Record<string, string>;
    body?: Record<string, unknown>;
    onLimit?: (key: ReadKey, limitMs: number) => void;
    answers?: ReadCache;
    knownFarms?: readonly Farm[];
  } = {},
): Promise<{ readonly findings: readonly GuardFinding[]; readonly asked: readonly string[] }> {
  const operations = createOperations();
  const operation = operations.get(key)!;
  const named = Object.entries({ ...usualParams, ...params }).filter(([name]) =>
    operation.template.includes(`{${name}}`),
  );
  const call = operations.toCall(operation.operationId, Object.fromEntries(named))!;
  const asked: string[] = [];
  const reader = async (read: ReadKey, readParams: object, limitMs?: number) => {
    asked.push([read, ...Object.values(readParams)].join(' '));
    if (limitMs !== undefined) onLimit?.(read, limitMs);
    const reply = structuredCloneOf(replies[read] ?? refusal('not_found'));
    if (reply instanceof Error) throw reply;
    const row: EndpointRow = endpoints[read];
    const fault = decode(row.reply!, reply);
    if (fault) throw new Error(`the reply of the test does not fit ${read}: ${fault.because}`);
    return reply as never;
  };
  const findings = await inspectCall(call, body, { read: reader, knownFarms: () => knownFarms }, answers);
  return { findings, asked };
}

/** A body as it comes off the wire. */
export function bodyOf(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

/** Bodies of which nobody can be sure that no release takes them for this action. */
export function unclear(action: string): readonly string[] {
  const escaped = [...action].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');
  return [
    ...[` ${action}`, `${action}\\n`, `${action}\\u0000`, `\\ufeff${action}`, action.toUpperCase(), escaped].map(
      (word) => `{"action":"${word}"}`,
    ),
    `{"action":["${action}"]}`,
    `{"action":[["${action}"]]}`,
    '{"action":[]}',
    '{"action":{"a":1}}',
    `{"action":"up","action":"${action}"}`,
    `{"\\u0061ction":"${action}"}`,
    `{"__proto__":{"action":"up"},"action":"${action}"}`,
  ];
}

/** Names and severities, for what a test counts on. */
export function namesOf({ findings }: { readonly findings: readonly GuardFinding[] }): readonly string[] {
  return findings.map(({ guard, severity }) => `${guard} ${severity}`);
}

/** Decoding writes into the reply, and a test may give it twice. */
function structuredCloneOf(reply: unknown): unknown {
  return reply instanceof Error ? reply : structuredClone(reply);
}

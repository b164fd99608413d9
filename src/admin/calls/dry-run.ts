import { type Static, Type } from 'typebox';
import { mediaTypeOf } from '../../appliance/response.ts';
import type { EndpointRow, Risk } from '../../appliance/api/row.ts';
import { type EndpointKey, endpointRows, endpoints } from '../../appliance/api/table.ts';
import { isSafeFarm } from '../../appliance/safe-farm-name.ts';
import { ApplianceError } from '../../appliance/errors.ts';
import { createRouteMatcher } from '../../appliance/route.ts';
import { parseJson } from '../../lib/check.ts';
import { AuditLineSchema } from '../journal/record.ts';
import { type clearanceOf, confirmationOf, isConfirmed } from './approval.ts';
import { discover, ParameterSchema, validationProblems } from './discovery.ts';
import {
  type ReadCache,
  blockingOf,
  FindingSchema,
  type GuardFinding,
  overriddenBy,
  cacheKey,
} from '../policy/guards/guard.ts';
import { isKnownSilent } from '../policy/guards/farms.ts';
import { inspectCall } from '../policy/guards/inspect.ts';
import { maskValue } from './mask.ts';
import { may } from '../policy/policy.ts';
import type { Principal } from '../policy/principal.ts';
import { AdminProblem } from '../policy/problem.ts';
import { type ApplianceSession, readResponse } from './session.ts';
import type { AdminCall } from './admin-call.ts';
import type { RequestBody } from './request-body.ts';

const { forced, warned } = AuditLineSchema.properties;

const ValidationSchema = Type.Object({
  checked: Type.Boolean(),
  note: Type.Optional(Type.String()),
  problems: Type.Immutable(
    Type.Array(Type.String({ description: 'A reason for which the appliance would refuse the call.' })),
  ),
  parameters: Type.Optional(Type.Immutable(Type.Array(ParameterSchema))),
});
type Validation = Static<typeof ValidationSchema>;

const CurrentObjectSchema = Type.Object({
  operation: Type.Unsafe<EndpointKey>(Type.String({ description: 'The operation that read it.' })),
  status: Type.Integer(),
  body: Type.Unknown({ description: 'JSON or text with secrets masked; a sentence if it cannot be shown.' }),
});
type CurrentObject = Static<typeof CurrentObjectSchema>;

/** The response to a dry run. */
export const DryRunSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    operation: Type.Unsafe<EndpointKey>(Type.String()),
    risk: Type.Unsafe<Risk>(Type.String()),
    request: Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: Type.Unknown({ description: 'With secrets masked.' }),
    }),
    would: Type.Enum(['be sent', 'wait for approval', 'be refused']),
    because: Type.Immutable(
      Type.Array(Type.String({ description: 'A reason for which the gateway would refuse it.' })),
    ),
    confirmation: Type.Object({
      required: Type.Boolean(),
      expected: Type.Immutable(Type.Array(Type.String())),
      given: Type.Boolean(),
    }),
    validation: ValidationSchema,
    findings: Type.Immutable(Type.Array(FindingSchema)),
    forced,
    warned,
    current: Type.Union([CurrentObjectSchema, Type.Null()]),
  },
  { description: 'What X-Dry-Run answers: the request as it would be sent, and what speaks against it.' },
);
export type DryRun = Readonly<Static<typeof DryRunSchema>>;

/** The purpose of a dry run, and the reads that it may use. */
export interface DryRunUse {
  /**
   * A dry run for a `caller` is shown as it is. One for a `plan` does not ask the appliance for
   * parameters, since a plan does not show them, and needs no confirmation.
   */
  readonly purpose: 'caller' | 'plan';
  /** The reads so far; the dry runs of one plan share them. */
  readonly cache: ReadCache;
}

/** A permitted call in its slot. */
export interface DryRunParts extends DryRunUse {
  readonly call: Pick<AdminCall, 'appliance' | 'target' | 'confirm' | 'force' | 'reason'> & {
    readonly principal: Pick<Principal, 'role' | 'allow' | 'deny' | 'plansOnly' | 'skipConfirmation' | 'guards'>;
    readonly body: Pick<RequestBody, 'contentType' | 'contentLength' | 'fields' | 'masked'> | undefined;
  };
  readonly session: ApplianceSession;
  /** True if changes are frozen and the call is a change. */
  readonly frozen: boolean;
  readonly clearance: ReturnType<typeof clearanceOf>;
}

/**
 * Runs all checks of a call without sending it; sends only reads and the request for parameters.
 */
export async function dryRunCall(parts: DryRunParts): Promise<DryRun> {
  const { call, session, clearance, purpose, cache } = parts;
  const { target, body } = call;
  const { operationId, row, method } = target.operation;
  const findings = await inspectCall(target, body?.fields ?? {}, session, cache);
  const validation = await validate(parts);
  const current = method === 'GET' ? null : await readCurrentObject(parts);
  const expected = confirmationOf(target, call.appliance);
  // The plan of a change names the object, and somebody looks at it.
  const isGiven = purpose === 'plan' || isConfirmed(call.confirm, expected);
  const confirmation = { required: expected.length > 0, expected, given: isGiven };
  const because = refusalReasons(parts, confirmation, findings);
  const unlessRefused = clearance === 'needs_approval' ? 'wait for approval' : 'be sent';
  return {
    dry_run: true,
    operation: operationId,
    risk: row.risk,
    request: {
      method,
      url: session.appliance.relay.urlOf(target.path),
      headers: body ? { 'content-type': body.contentType, 'content-length': String(body.contentLength) } : {},
      body: body ? body.masked : null,
    },
    would: because.length > 0 ? 'be refused' : unlessRefused,
    because,
    confirmation,
    validation,
    findings,
    ...overriddenBy(findings, call),
    current,
  };
}

async function validate({ call: { target, body }, session, frozen, purpose }: DryRunParts): Promise<Validation> {
  const { row, method } = target.operation;
  const unchecked = (note: string): Validation => ({ checked: false, note, problems: [] });
  if (row.body === 'none') return unchecked('The operation takes no body.');
  if (row.body !== 'json') return unchecked('The appliance looks at a file when it has it, not before.');
  if (purpose === 'plan') return unchecked('A plan does not show the parameters.');
  if (frozen)
    return unchecked(
      `All changes are frozen, and the question for parameters is a ${method} as well; it was not sent.`,
    );
  try {
    const { parameters } = await discover(session, target);
    const shown = { checked: true, problems: validationProblems(body?.fields ?? {}, parameters), parameters };
    return parameters.length > 0 ? shown : { ...shown, note: 'The appliance describes no parameters of this call.' };
  } catch (error) {
    if (!(error instanceof AdminProblem)) throw error;
    return unchecked(error.message);
  }
}

function refusalReasons(
  { call: { force, reason, principal }, frozen, clearance }: DryRunParts,
  { required, expected, given }: DryRun['confirmation'],
  findings: readonly GuardFinding[],
): readonly string[] {
  const blocking = blockingOf(findings).map(({ message }) => message);
  const because: string[] = [];
  if (frozen) because.push('All changes are frozen; GET /freeze says who froze them, and why.');
  if (clearance instanceof AdminProblem) because.push(clearance.message);
  if (required && !given && !principal.skipConfirmation) because.push(`X-Confirm must be ${expected.join(' or ')}.`);
  if (!force && principal.guards === 'refuse') because.push(...blocking);
  if (force && blocking.length > 0 && reason === undefined) because.push('A forced call needs a reason, in X-Reason.');
  return because;
}

const maxObjectBytes = 262_144;

/**
 * Reads the object that a call is about, or the list that it is or would be in: the read of the
 * same path, else of the nearest path above it. Null when nothing there may be read, or the
 * appliance does not answer. A plan shows what its guards have read.
 */
async function readCurrentObject({
  call: { target, principal },
  session,
  purpose,
  cache,
}: DryRunParts): Promise<CurrentObject | null> {
  const wanted = nearestRead(target.path, principal);
  const found =
    wanted && !(await mayHaveSideEffect(session, wanted)) ? wanted : nearestRead(target.path, principal, true);
  if (!found) return null;
  const { operation, path, params } = found;
  if (isKnownSilent(session, params.farmname) || (await hasSilentProxy(cache, params))) return null;
  const read = purpose === 'plan' ? cache.get(cacheKey(operation, params)) : undefined;
  const known = await read?.catch(() => undefined);
  if (known !== undefined) return { operation, status: 200, body: maskValue(known) };
  try {
    const { status, headers, text } = await readResponse(session, { method: 'GET', path }, maxObjectBytes);
    return { operation, status, body: maskedContent(text, headers['content-type'] ?? '') };
  } catch (error) {
    if (!(error instanceof ApplianceError)) throw error;
    if (error.reason !== 'oversize') return null;
    return { operation, status: error.status ?? 200, body: `Left out: ${error.message}.` };
  }
}

/** Returns true if the proxy of this farm did not answer a guard: the appliance would wait again. */
async function hasSilentProxy(cache: ReadCache, { farmname }: Readonly<Record<string, string>>): Promise<boolean> {
  const status = farmname && cache.get(cacheKey('readFarmStatus', { farmname }));
  const outcome = await Promise.resolve(status).catch((error: unknown) => error);
  return outcome instanceof ApplianceError && outcome.reason === 'timeout';
}

/** Returns true for a read that has, or may have, a side effect on its farm (docs/api.md §1.7). */
async function mayHaveSideEffect(
  { read }: ApplianceSession,
  { operation, params }: NonNullable<ReturnType<typeof nearestRead>>,
) {
  const row: EndpointRow = endpoints[operation];
  if (!row.readSideEffect) return false;
  const summary = await read('readFarmsSummary', {}).catch(() => undefined);
  return !summary || !isSafeFarm(summary, params.farmname ?? '');
}

function nearestRead(path: string, principal: DryRunParts['call']['principal'], isCautious = false) {
  const rows = endpointRows
    .filter(
      ([key, row]) => isStateRead(key, row) && may(principal, key, row).allowed && !(isCautious && row.readSideEffect),
    )
    .map(([key, { route }]) => ({ key, route }));
  const matcher = createRouteMatcher(rows);
  for (let above = path; above !== ''; above = above.slice(0, above.lastIndexOf('/'))) {
    const match = matcher.match('GET', above);
    if (match) return { operation: match.row.key, path: above, params: match.params };
  }
  return undefined;
}

/** Excludes files, since they may be private keys, and wildcard rows: they match any path. */
function isStateRead(key: EndpointKey, { route }: EndpointRow): boolean {
  return route.startsWith('GET ') && !key.startsWith('download') && !route.includes('*}');
}

function maskedContent(text: string, contentType: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return maskValue(value);
  return mediaTypeOf(contentType).startsWith('text/') ? maskValue(text) : 'Left out: it is neither JSON nor text.';
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { createTimeSlice, steadyNow } from '../lib/time.ts';
import type { TwinStatus, TwinWatch } from '../history/twin-watch.ts';
import { failoverSentence, neverCompared } from '../history/twins.ts';
import { applianceProblems } from '../state/appliance-problems.ts';
import { levelsOf } from '../state/problem.ts';
import type { Fleet } from '../scheduler/fleet.ts';
import type { ApplianceStatus, FarmStatus, ProbeStatus } from '../state/status.ts';
import type { SchemaTypes } from './create-app.ts';
import type { UnfinishedResponses } from './unfinished-responses.ts';
import { plainText } from './web-access.ts';

/** The query of routes that show all appliances, or those named. */
export const ApplianceQuery = Type.Object({ appliance: Type.Array(Type.String(), { default: [] }) });

/**
 * Sends 404 for an appliance that is not watched here; `shard` is the index of the shard that
 * watches it.
 */
export function sendUnknownAppliance(reply: FastifyReply, shard: number | undefined): FastifyReply {
  return reply
    .code(404)
    .type(plainText)
    .send(`${unknownApplianceMessage(shard)}\n`);
}

export function unknownApplianceMessage(shard: number | undefined): string {
  return shard === undefined
    ? 'No appliance of that name is configured; / lists the names. An address is not a name.'
    : `That appliance belongs to shard ${shard}; ask the exporter that runs with --shard=${shard}/….`;
}

/**
 * Keys that are left out if they have no value. Any other key of the status is null then.
 */
const optionalKeys: readonly string[] = [
  'sinceMs',
  'failure',
  'configuredBackends',
  'readings',
  'probe',
  'probes',
] satisfies readonly (keyof ApplianceStatus | keyof FarmStatus | keyof ProbeStatus)[];

/**
 * Writes null where a list or a fact is not known, so that a script can tell it from an empty list.
 */
function toJson(appliance: ApplianceStatus): string {
  return JSON.stringify(appliance, (key, value: unknown) =>
    value === undefined && !optionalKeys.includes(key) ? null : value,
  );
}

/** Differences of twins that are listed; an appliance may name tens of thousands. */
export const maxTwinDifferences = 1_000;

/** Describes a comparison; its lists are null where it is not known. */
function describeTwin(twin: TwinStatus | undefined) {
  if (!twin) return undefined;
  const { name, comparison } = twin;
  if (!comparison) return { name, differences: null, unknown: null };
  const { differences, unknown } = comparison;
  const described = differences.slice(0, maxTwinDifferences).map((each) => {
    const { here = null, there = null } = each;
    return { ...each, here, there, text: failoverSentence(each, name) };
  });
  const unlisted = differences.length - described.length;
  return { name, differences: described, ...(unlisted > 0 && { unlisted }), unknown: [...unknown], neverCompared };
}

export interface StatusApiParts {
  readonly fleet: Pick<Fleet, 'appliances' | 'statusOf' | 'transitions' | 'isReady' | 'watches'>;
  readonly shardWatching: (appliance: string) => number | undefined;
  readonly twinOf: TwinWatch['twinOf'];
  readonly build: { readonly version: string };
  /** True while simulated appliances are shown because there is no configuration. */
  readonly isDemonstration: boolean;
  readonly now: () => number;
  readonly responses: UnfinishedResponses;
}

const path = '/api/status';
/** Maximum time in one tick of the event loop. */
const sliceMs = 5;
/** The problems of an appliance are determined at most once in this time, however many ask. */
const judgedForMs = 1_000;
/** An appliance that takes longer is large: readers share its JSON for ten times as long. */
const largeMs = 50;
const maxSharedMs = 10_000;

/**
 * Registers `GET /api/status`: what `/` shows as JSON, for all appliances or those named in the
 * query. Unknown values are null.
 */
export function registerStatusApi(
  app: FastifyInstance,
  { fleet, shardWatching, twinOf, build, isDemonstration, now, responses }: StatusApiParts,
): void {
  /** An unchanged appliance keeps its status object, and so its JSON. */
  const texts = new WeakMap<ApplianceStatus, string>();
  /** The JSON with the problems, shared by the responses that are being sent. */
  const judged = new WeakMap<ApplianceStatus, { readonly atMs: number; readonly bytes: Buffer }>();
  /** The JSON of large appliances, for a short time: each of their readings is another status. */
  const shared = new Map<string, Buffer>();

  /** Returns the JSON of an appliance; undefined for one that is not watched any more. */
  function jsonOf(name: string): Buffer | undefined {
    const known = shared.get(name);
    if (known) return known;
    const startSteadyMs = steadyNow();
    const status = fleet.statusOf(name);
    const bytes = status && jsonWithProblems(status);
    const tookMs = steadyNow() - startSteadyMs;
    if (bytes && tookMs >= largeMs) {
      shared.set(name, bytes);
      setTimeout(() => shared.delete(name), Math.min(10 * tookMs, maxSharedMs)).unref();
    }
    return bytes;
  }

  /** Determines the problems again after a while: a certificate expires without a new reading. */
  function jsonWithProblems(appliance: ApplianceStatus): Buffer {
    const nowMs = now();
    const known = judged.get(appliance);
    if (known && Math.abs(nowMs - known.atMs) < judgedForMs) return known.bytes;
    const text = texts.get(appliance) ?? toJson(appliance);
    texts.set(appliance, text);
    const problems = applianceProblems(appliance, nowMs);
    const twin = describeTwin(twinOf(appliance.name));
    const judgement = JSON.stringify({ problems, levels: levelsOf(appliance, problems), twin });
    const bytes = Buffer.from(`${text.slice(0, -1)},${judgement.slice(1)}`);
    judged.set(appliance, { atMs: nowMs, bytes });
    return bytes;
  }

  async function contentsOf(head: object, names: readonly string[]): Promise<readonly Buffer[]> {
    const slice = createTimeSlice(sliceMs);
    const contents: Buffer[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"appliances":[`)];
    for (const name of names) {
      const text = jsonOf(name);
      if (text) contents.push(...(contents.length > 1 ? [comma] : []), text);
      if (slice.isOver) await slice.next();
    }
    return [...contents, end];
  }

  app.withTypeProvider<SchemaTypes>().get(path, { schema: { querystring: ApplianceQuery } }, async (request, reply) => {
    const names = new Set(request.query.appliance);
    const unknown = [...names].find((name) => !fleet.watches(name));
    if (unknown !== undefined) return sendUnknownAppliance(reply, shardWatching(unknown));
    responses.assertRoom(request);
    const isRequested = (name: string): boolean => names.size === 0 || names.has(name);
    const transitions = fleet.transitions.filter(({ appliance }) => isRequested(appliance));
    const head = { version: build.version, demonstration: isDemonstration, ready: fleet.isReady, transitions };
    const asked = fleet.appliances.map(({ name }) => name).filter(isRequested);
    const contents = await contentsOf(head, asked);
    return responses.send(request, reply.type('application/json; charset=utf-8'), { contents });
  });
}

const comma = Buffer.from(',');
const end = Buffer.from(']}\n');

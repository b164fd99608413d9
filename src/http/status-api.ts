import { finished, Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { createSlice } from '../lib/slice.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { ApplianceStatus } from '../monitor/status.ts';
import { unknownAppliance, valuesOf } from './appliance-query.ts';

/** Keys that are left out where they do not apply; any other key without a value is not known, and null. */
const optionalKeys: readonly string[] = ['sinceMs', 'failure', 'configuredBackends', 'readings'];

/** Writes null where a list or a fact is not known, so that a script can tell it from an empty list. */
function toJson(appliance: ApplianceStatus): string {
  return JSON.stringify(appliance, (key, value: unknown) =>
    value === undefined && !optionalKeys.includes(key) ? null : value,
  );
}

export interface StatusApiParts {
  readonly monitor: Pick<Monitor, 'describe' | 'ready' | 'watches'>;
  readonly shardWatching: (appliance: string) => number | undefined;
  readonly build: { readonly version: string };
  /** True while simulated appliances are shown because there is no configuration. */
  readonly isDemonstration: boolean;
}

const path = '/api/status';
/** After so long everything else has its turn. */
const sliceMs = 5;
/** Sent at once. */
const pieceLength = 65_536;
/** Past this an answer is cut: who does not read it keeps all that it says in memory. */
const longestMs = 30_000;

/** `GET /api/status`: what `/` shows, of all appliances or of those named, as JSON. What is not known is null. */
export function registerStatusApi(
  app: FastifyInstance,
  { monitor, shardWatching, build, isDemonstration }: StatusApiParts,
): void {
  /** What did not change since it was last asked for is the same object, and has its text already. */
  const texts = new WeakMap<ApplianceStatus, string>();

  function textOf(appliance: ApplianceStatus): string {
    const text = texts.get(appliance) ?? toJson(appliance);
    texts.set(appliance, text);
    return text;
  }

  async function* inPieces(head: object, appliances: readonly ApplianceStatus[]): AsyncGenerator<string> {
    const slice = createSlice(sliceMs);
    let piece = `${JSON.stringify(head).slice(0, -1)},"appliances":[`;
    for (const [index, appliance] of appliances.entries()) {
      piece += (index === 0 ? '' : ',') + textOf(appliance);
      if (piece.length >= pieceLength) {
        yield piece;
        piece = '';
      }
      if (slice.isOver) await slice.next();
    }
    yield `${piece}]}\n`;
  }

  app.get(path, (request, reply) => {
    const names = new Set(valuesOf(request, 'appliance'));
    const stranger = [...names].find((name) => !monitor.watches(name));
    if (stranger !== undefined) return unknownAppliance(reply, shardWatching(stranger));
    const isAsked = ({ name }: { readonly name: string }): boolean => names.size === 0 || names.has(name);
    const { appliances, transitions } = monitor.describe();
    const head = {
      version: build.version,
      demonstration: isDemonstration,
      ready: monitor.ready,
      transitions: transitions.filter(({ appliance }) => isAsked({ name: appliance })),
    };
    const timer = setTimeout(() => reply.raw.destroy(), longestMs);
    finished(reply.raw, () => clearTimeout(timer));
    return reply
      .type('application/json; charset=utf-8')
      .send(Readable.from(inPieces(head, appliances.filter(isAsked)), { objectMode: false }));
  });
}

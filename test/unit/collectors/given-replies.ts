import type { ReadKey } from '../../../src/appliance/client.ts';
import { createDecoder } from '../../../src/appliance/decode.ts';
import type { EndpointRow } from '../../../src/appliance/endpoints/row.ts';
import { endpoints } from '../../../src/appliance/endpoints/table.ts';
import { ApplianceError, type FailureReason } from '../../../src/appliance/errors.ts';
import type {
  ApplianceCollector,
  CollectContext,
  Facts,
  FarmCollector,
  FarmFact,
  ReadFrom,
  Reading,
} from '../../../src/collectors/collector.ts';
import type { Findings } from '../../../src/collectors/findings.ts';
import { renderSamples } from '../../../src/metrics/samples.ts';

/** Bodies as they come off the wire, or how the call is refused. */
export type Replies = Partial<Readonly<Record<ReadKey, unknown>>>;

export interface Given extends Partial<Omit<CollectContext, 'read' | 'facts'>> {
  readonly facts?: Partial<Facts>;
}

export interface Collected {
  /** The sample lines, in the order in which they were written. */
  readonly text: string;
  readonly states: readonly string[];
  readonly facts: Partial<Facts> | undefined;
  /** What it says as data, all together. */
  readonly findings: Findings;
  /** Series that were named twice. */
  readonly duplicates: number;
  /** The calls that were made, in their order. */
  readonly asked: readonly ReadKey[];
}

const decode = createDecoder();

const nothingKnown: Facts = {
  farms: undefined,
  edition: undefined,
  version: undefined,
  licensed: undefined,
  activationEndSeconds: undefined,
};

/** How an appliance says no; `routeMissing` is what an edition says that lacks the call. */
export function refusal(reason: FailureReason, { routeMissing = false } = {}): ApplianceError {
  return new ApplianceError(reason, { endpoint: '/any', message: `refused: ${reason}`, routeMissing });
}

/** What a collector makes of the replies; a call without one is a route that the appliance lacks. */
export async function collectFrom(
  collector: ApplianceCollector,
  replies: Replies,
  given: Given = {},
): Promise<Collected> {
  const asked: ReadKey[] = [];
  return show(await collector.collect(contextOf(replies, asked, given)), asked);
}

/** The same for one farm in a round. */
export async function collectFarmFrom(
  collector: FarmCollector,
  farm: FarmFact,
  replies: Replies,
  given: Given = {},
): Promise<Collected> {
  const asked: ReadKey[] = [];
  const context = contextOf(replies, asked, { ...given, facts: { farms: [farm], ...given.facts } });
  const collectFarm = await collector.begin(context);
  return show(await collectFarm(farm, context), asked);
}

function contextOf(replies: Replies, asked: ReadKey[], { facts, ...given }: Given): CollectContext {
  const read: ReadFrom = (key) => {
    asked.push(key);
    const reply = key in replies ? structuredCloneOf(replies[key]) : refusal('not_found', { routeMissing: true });
    if (reply instanceof Error) return Promise.reject(reply);
    const row: EndpointRow = endpoints[key];
    const checked = row.reply ? decode(row.reply, reply) : { ok: false, because: 'no reply is known' };
    if (!checked.ok) throw new Error(`the reply of the test does not fit ${key}: ${JSON.stringify(checked)}`);
    return Promise.resolve(reply as never);
  };
  return {
    watches: () => true,
    now: () => Date.UTC(2026, 10, 20, 21),
    labels: {},
    compact: false,
    ...given,
    read,
    facts: { ...nothingKnown, ...facts },
  };
}

/** Decoding writes into the reply, and a test may give it twice. */
function structuredCloneOf(reply: unknown): unknown {
  return reply instanceof Error ? reply : structuredClone(reply);
}

function show({ expose, found = [], states = [], facts }: Reading, asked: readonly ReadKey[]): Collected {
  const { families, duplicates } = renderSamples('lb', expose);
  return {
    text: families.map(({ text }) => text).join(''),
    states: states.map(({ object, labels, state }) => [object, ...Object.values(labels), state].join(' ')),
    facts,
    findings: Object.assign({}, ...found.map(({ findings }) => findings)) as Findings,
    duplicates,
    asked,
  };
}

/** The families in the order in which they were written: over the series limit, the last ones are left out. */
export function familiesOf({ text }: Collected): readonly string[] {
  return [...new Set(text.match(/^zlb_\w+/gm))];
}

/** Only the lines of one family, for what would drown in the rest. */
export function linesOf({ text }: Collected, family: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${family}{`))
    .join('\n');
}

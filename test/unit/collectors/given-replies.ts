import type { Farm } from '../../../src/appliance/farm.ts';
import { createSlots } from '../../../src/lib/slots.ts';
import type { ReadKey } from '../../../src/appliance/client.ts';
import { decode } from '../../../src/appliance/decode.ts';
import type { EndpointRow } from '../../../src/appliance/api/row.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { ApplianceError, type FailureReason } from '../../../src/appliance/errors.ts';
import { safeFarmName } from '../../../src/appliance/safe-farm-name.ts';
import { applianceFacts } from '../../../src/collectors/appliance-facts.ts';
import type {
  ApplianceWideCollector,
  CollectContext,
  Facts,
  PerFarmCollector,
  Read,
  WriteOptions,
} from '../../../src/collectors/collector.ts';
import { writeReading } from '../../../src/collectors/rows.ts';
import { plainVip } from '../../support/poller.ts';
import { rendered } from '../../support/store-text.ts';

/** Bodies as they come off the wire, or how the call is refused. */
export type Replies = Partial<Readonly<Record<ReadKey, unknown>>>;

export interface Given extends Partial<Omit<CollectContext, 'read' | 'facts'>>, Partial<WriteOptions> {
  readonly facts?: Partial<Facts>;
}

export interface Collected<Data> {
  readonly data: Data;
  /** The sample lines, in the order in which they were written. */
  readonly text: string;
  readonly states: readonly string[];
  /** The facts for other collectors in its data alone. */
  readonly facts: Facts;
  /** Series that were named twice. */
  readonly duplicates: number;
  /** The calls that were made, in their order. */
  readonly asked: readonly ReadKey[];
}

const nothingKnown: Facts = {
  farms: undefined,
  edition: undefined,
  product: undefined,
  version: undefined,
  isActivated: undefined,
  activationEndSeconds: undefined,
  answersSinceElapsedMs: undefined,
};

/** How an appliance says no; `routeMissing` is what an edition says that lacks the call. */
export function refusal(reason: FailureReason, { routeMissing = false } = {}): ApplianceError {
  return new ApplianceError(reason, { endpoint: '/any', message: `refused: ${reason}`, routeMissing });
}

/**
 * Returns the reading of a collector for the replies; a call without one is an unsupported route.
 */
export async function collectFrom<Data>(
  collector: ApplianceWideCollector<Data>,
  replies: Replies,
  given: Given = {},
): Promise<Collected<Data>> {
  const asked: ReadKey[] = [];
  return await show(collector, await collector.collect(contextOf(replies, asked, given)), given, asked);
}

/** The same for one farm in a round. */
export async function collectFarmFrom<Data>(
  collector: PerFarmCollector<Data>,
  farm: Farm,
  replies: Replies,
  given: Given = {},
): Promise<Collected<Data>> {
  const asked: ReadKey[] = [];
  const context = contextOf(replies, asked, { ...given, facts: { farms: [farm], ...given.facts } });
  const collectFarm = await collector.begin(context);
  return await show(collector, await collectFarm(farm, context), given, asked);
}

function contextOf(replies: Replies, asked: ReadKey[], { facts, ...given }: Given): CollectContext {
  const read: Read = (key) => {
    asked.push(key);
    const reply = key in replies ? structuredCloneOf(replies[key]) : refusal('not_found', { routeMissing: true });
    if (reply instanceof Error) return Promise.reject(reply);
    const row: EndpointRow = endpoints[key];
    const fault = row.reply ? decode(row.reply, reply, () => undefined) : { because: 'no reply is known' };
    if (fault) throw new Error(`the reply of the test does not fit ${key}: ${fault.because}`);
    return Promise.resolve(reply as never);
  };
  return {
    watches: () => true,
    now: () => Date.UTC(2026, 10, 20, 21),
    elapsedNow: () => 0,
    labels: {},
    intervalMs: 30_000,
    fresh: () => undefined,
    changedAtElapsedMs: () => undefined,
    safeFarmName: ({ name, profile }) => Promise.resolve(safeFarmName(name, profile)),
    signal: new AbortController().signal,
    probing: { settings: plainVip, inSlot: createSlots(64) },
    ...given,
    read,
    facts: { ...nothingKnown, ...facts },
  };
}

/** Decoding writes into the reply, and a test may give it twice. */
function structuredCloneOf(reply: unknown): unknown {
  return reply instanceof Error ? reply : structuredClone(reply);
}

async function show<Data>(
  { name, families, entity }: Pick<ApplianceWideCollector<Data>, 'name' | 'families' | 'entity'>,
  data: Data,
  { compact = false }: Given,
  asked: readonly ReadKey[],
): Promise<Collected<Data>> {
  const { text, duplicates } = await rendered(writeReading(families, data, { compact }));
  return {
    data,
    text,
    states: [...(entity?.states(data) ?? [])].map(({ object, labels, state }) =>
      [object, ...Object.values(labels), state].join(' '),
    ),
    facts: applianceFacts(new Map([[name, data]])),
    duplicates,
    asked,
  };
}

/**
 * The families in the order in which they were written: over the series limit, the last ones are
 * left out.
 */
export function familiesOf({ text }: Pick<Collected<unknown>, 'text'>): readonly string[] {
  return [...new Set(text.match(/^zlb_\w+/gm))];
}

/** Only the lines of one family, for what would drown in the rest. */
export function linesOf({ text }: Pick<Collected<unknown>, 'text'>, family: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${family}{`))
    .join('\n');
}

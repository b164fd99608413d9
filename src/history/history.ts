import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { AskedThread, workerBeside } from '../lib/asked-thread.ts';
import { toError } from '../lib/check.ts';
import { inTime } from '../lib/time.ts';
import { farms as farmList } from '../collectors/farms.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { FoundReading, StateListener } from '../state/appliance-state.ts';
import { keyOf, type Moment } from '../state/reading.ts';
import type { Transition } from '../state/status.ts';
import type { Touch } from './authors.ts';
import { ChangeCounts } from './change-counts.ts';
import type { Difference, EventQuery, HistoryEvent, NewEvent } from './event.ts';
import { type Answer, HistoryKeeper, type Question } from './keeper.ts';
import { Restarts } from './restarts.ts';
import type { Entry, SeenReading } from './store.ts';

export interface HistorySettings {
  /** A file of SQLite; undefined keeps it in memory until the exporter stops. */
  readonly file?: string | undefined;
  readonly keepMs: number;
}

export interface HistoryParts {
  readonly store: Pick<MetricsStore, 'put'>;
  readonly registry: Registry;
  readonly log: Logger;
  readonly now: () => number;
}

/** An appliance whose history is kept. */
export interface RememberedAppliance {
  readonly name: string;
  /** Its address: nothing is compared with another one. */
  readonly scope: string;
  /** Its choice of farms, as a text: a list of farms is compared with none of another one. */
  readonly farmChoice?: string;
}

export const lostMetric = {
  name: 'zlb_exporter_history_lost_total',
  help: 'Readings and events that could not be written to the history (this exporter).',
} as const;

/** A reading by its digest, to know whether the next one says the same. */
interface KnownReading {
  readonly seen: SeenReading;
  readonly digest: string;
  /** The newest `seen` that was written. */
  readonly datedMs: number;
}

/** Entries that wait for the disk; those above are lost. */
const maxWaiting = 10_000;
/** A disk that takes longer has failed. */
const maxWaitMs = 10_000;
const betweenPrunesMs = 600_000;
/** How old the date of a reading that says the same may be, if the exporter is killed. */
const betweenDatesMs = 600_000;

/**
 * Remembers what changed: compares each reading of the configuration with the one before, and keeps
 * events. Nothing waits for it but who asks for events.
 */
export class History {
  readonly #parts: HistoryParts;
  readonly #lost = new Counter({ ...lostMetric, registers: [] });
  readonly #counts = new Map<string, ChangeCounts>();
  readonly #restarts = new Restarts();
  /** By appliance, collector and farm. */
  readonly #known = new Map<string, KnownReading>();
  readonly #pruning = setInterval(() => this.#prune(), betweenPrunesMs).unref();
  #settings: HistorySettings;
  #keeper: Keeper;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  #failing: string | undefined;
  #touches = 0;

  constructor(settings: HistorySettings, parts: HistoryParts) {
    this.#parts = parts;
    this.#settings = settings;
    this.#keeper = createKeeper(settings);
    parts.registry.registerMetric(this.#lost);
    this.#lost.inc(0);
  }

  /** Remembers these appliances and shows their numbers; called after each change of settings. */
  async watch(appliances: readonly RememberedAppliance[], settings = this.#settings): Promise<void> {
    if (settings.file !== this.#settings.file) await this.#leave(settings);
    this.#settings = settings;
    const names = new Set(appliances.map(({ name }) => name));
    for (const name of this.#counts.keys()) if (!names.has(name)) this.#counts.delete(name);
    for (const { name } of appliances)
      if (!this.#counts.has(name)) this.#counts.set(name, new ChangeCounts(name, this.#parts.store));
    for (const counts of this.#counts.values()) counts.publish();
    // Not awaited: a slow disk does not delay the first poll.
    void this.#learnFarms();
  }

  /** Returns what hears of the readings of an appliance. */
  listenerOf(appliance: RememberedAppliance): StateListener {
    const { name, scope } = appliance;
    return {
      put: (reading, transitions, moment) => {
        this.#configured(appliance, reading, moment);
        if (this.#restarts.isSeenIn(reading, name, scope)) this.#restarted(name, moment);
        for (const ofFarm of Map.groupBy(transitions, ({ labels }) => labels.farm ?? '').values())
          this.#add(stateEvent(ofFarm));
      },
      removed: (origin, why) => {
        // A farm of that name is another one, though it may be configured as this one was.
        if (why === 'gone') this.#known.delete([name, keyOf(origin)].join('\n'));
      },
      answering: (isUp, because) => this.#answering(name, isUp, because),
    };
  }

  /**
   * Takes notice of a call through the gateway that is about to leave. Returns a function to call
   * when it is over; `text` says what became of it.
   */
  touching(touch: Touch, farm: string): (text: string) => void {
    this.#touches += 1;
    const { now } = this.#parts;
    const kept = { ...touch, id: `${this.#touches} ${touch.by}`, fromMs: now() };
    this.#enter({ touch: kept });
    return (text) => {
      const atMs = now();
      this.#enter({ touch: { ...kept, untilMs: atMs } });
      const { appliance, by } = touch;
      this.#add({ kind: 'change', appliance, farm, atMs, by, text, differences: [] });
    };
  }

  /** Notes what the exporter itself did. */
  note(kind: 'reload' | 'start', text: string): void {
    this.#add({ kind, appliance: '', farm: '', atMs: this.#parts.now(), text, differences: [] });
  }

  /** Returns the newest first; rejects where the file cannot be read. */
  async find(query: EventQuery): Promise<readonly HistoryEvent[]> {
    await this.#writing;
    const { events = [] } = await this.#ask({ do: 'find', query });
    return events;
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning);
    await this.#leave();
  }

  #configured(appliance: RememberedAppliance, found: FoundReading, { atMs, ageMs }: Moment): void {
    const { name, scope: address, farmChoice = '' } = appliance;
    const { collector, farm, data, takenAtMs, isWhole } = found;
    const objects = isWhole ? collector.configured?.(data) : undefined;
    if (!objects) return;
    const askedMs = Math.round(atMs - (ageMs - takenAtMs));
    const key = [name, keyOf({ collector: collector.name, farm })].join('\n');
    const scope = collector.name === farmList.name ? `${address}\n${farmChoice}` : address;
    const digest = hash('sha1', JSON.stringify([scope, objects]), 'base64');
    const known = this.#known.get(key);
    const seen = { appliance: name, collector: collector.name, farm: farm ?? '', askedMs };
    const isSame = known?.digest === digest;
    const isDated = isSame && askedMs < known.datedMs + betweenDatesMs;
    this.#known.set(key, { seen, digest, datedMs: isDated ? known.datedMs : askedMs });
    if (isDated) return;
    const reading = { ...seen, scope, atMs: Math.round(atMs), seenMs: known?.seen.askedMs, objects };
    this.#enter(isSame ? { seen: [seen] } : { reading });
  }

  #restarted(appliance: string, { atMs }: Moment): void {
    const text = 'restarted: its interfaces count their traffic from 0';
    this.#add({ kind: 'restart', appliance, farm: '', atMs, text, differences: [] });
  }

  #answering(appliance: string, isUp: boolean, because: string | undefined): void {
    const states = ['answers', because === undefined ? 'does not answer' : `does not answer (${because})`] as const;
    const [before, after] = isUp ? states.toReversed() : states;
    const differences = [
      { object: 'appliance', farm: '', service: '', name: appliance, setting: 'state', before, after } as const,
    ];
    this.#add({ kind: 'state', appliance, farm: '', atMs: this.#parts.now(), differences });
  }

  #add(event: NewEvent): void {
    this.#enter({ event: { ...event, atMs: Math.round(event.atMs) } });
  }

  #enter(entry: Entry): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#forget(1);
      return;
    }
    this.#waiting.push(entry);
    this.#writing ??= this.#write();
  }

  /** Writes what waits, in batches. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) await this.#writeTo(this.#keeper, this.#takeWaiting());
    this.#writing = undefined;
  }

  #takeWaiting(): readonly Entry[] {
    const entries = this.#waiting;
    this.#waiting = [];
    return entries;
  }

  /** Writes entries; what cannot be written is counted as lost. */
  async #writeTo(keeper: Keeper, entries: readonly Entry[]): Promise<void> {
    try {
      const { events = [] } = await this.#ask({ do: 'write', entries }, keeper);
      for (const event of events) this.#counts.get(event.appliance)?.add(event);
      if (this.#failing !== undefined) this.#parts.log.info('history is written again');
      this.#failing = undefined;
    } catch (error) {
      this.#forget(entries.length);
      this.#failed(keeper, error);
    }
  }

  /** Counts entries as lost; the next readings are compared with those on disk. */
  #forget(entries: number): void {
    this.#lost.inc(entries);
    this.#known.clear();
  }

  #failed({ file }: Keeper, error: unknown): void {
    const { message } = toError(error);
    if (message !== this.#failing)
      this.#parts.log.error({ file, because: message }, 'history cannot be written; monitoring goes on without it');
    this.#failing = message;
  }

  /** Forgets what is too old. */
  #prune(): void {
    const keeper = this.#keeper;
    const beforeMs = this.#parts.now() - this.#settings.keepMs;
    this.#ask({ do: 'prune', beforeMs }, keeper).catch((error: unknown) => this.#failed(keeper, error));
  }

  async #learnFarms(): Promise<void> {
    const keeper = this.#keeper;
    const { farms = [] } = await this.#ask({ do: 'farms' }, keeper).catch((error: unknown): Answer => {
      this.#failed(keeper, error);
      return {};
    });
    for (const { appliance, farm, atMs } of farms) this.#counts.get(appliance)?.changedBefore(farm, atMs);
    for (const counts of this.#counts.values()) counts.publish();
  }

  /** Writes what waits and closes the file; what comes meanwhile is written to the next one. */
  async #leave(next?: HistorySettings): Promise<void> {
    this.#enter({ seen: [...this.#known.values()].map(({ seen }) => seen) });
    this.#prune();
    const [keeper, entries] = [this.#keeper, this.#takeWaiting()];
    if (next) {
      this.#keeper = createKeeper(next);
      this.#settings = next;
      this.#known.clear();
    }
    // A keeper answers one question after another: what is being written is written before.
    await this.#writeTo(keeper, entries);
    await this.#ask({ do: 'close' }, keeper).catch(() => undefined);
    await keeper.terminate();
  }

  /** Resolves to the answer; rejects with the failure in it. */
  async #ask(question: Question, keeper = this.#keeper): Promise<Answer> {
    const late = (): Error => new Error(`the history (${keeper.file}) did not answer in ${maxWaitMs / 1_000} s`);
    const answer = await inTime(keeper.ask(question), maxWaitMs, late);
    if (answer.failure !== undefined) throw new Error(answer.failure);
    return answer;
  }
}

interface Keeper extends Pick<AskedThread<Question, Answer>, 'ask' | 'terminate'> {
  /** For messages. */
  readonly file: string;
}

/** Keeps a file in a thread of its own, since a disk may take its time. */
function createKeeper({ file }: HistorySettings): Keeper {
  if (file === undefined) {
    const keeper = new HistoryKeeper(undefined);
    return { file: 'in memory', ask: (question) => keeper.answer(question), terminate: () => Promise.resolve() };
  }
  const thread = new AskedThread<Question, Answer>(workerBeside(import.meta, 'history-worker'), {
    workerData: { file },
  });
  return { file, ask: (question) => thread.ask(question), terminate: () => thread.terminate() };
}

/** Makes one event of what changed on a farm between two readings. */
function stateEvent(transitions: readonly Transition[]): NewEvent {
  const differences = transitions.map(({ object, labels, from, to }): Difference => {
    const { farm = '', service = '', backend, file, interface: named } = labels;
    return { object, farm, service, name: backend ?? file ?? named ?? farm, setting: 'state', before: from, after: to };
  });
  const { appliance = '', atMs = 0 } = transitions[0] ?? {};
  return { kind: 'state', appliance, farm: differences[0]?.farm ?? '', atMs, differences };
}

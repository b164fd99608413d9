// Keeps what changed on appliances. Each reading of the configuration is compared with the one
// before, and the differences become events, with the calls of the gateway that may explain them
// (authors.ts). History owns the thread that owns the SQLite file (history-thread.ts); one write is
// under way at a time, and further entries wait in a bounded list. Polling never waits for it, and
// a failed write is counted as lost. Read on in differences.ts, store.ts (in the thread) and
// twin-watch.ts.

import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { toError } from '../lib/check.ts';
import { sizeOf } from '../lib/size.ts';
import { beginning } from '../lib/text.ts';
import { farms as farmList } from '../collectors/farms.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { FoundReading, StateListener } from '../state/appliance-state.ts';
import { keyOf, type Moment } from '../state/reading.ts';
import type { Transition } from '../state/status.ts';
import type { GatewayCall } from './authors.ts';
import { ChangeCounts } from './change-counts.ts';
import type { Difference, EventQuery, FoundEvents, NewEvent } from './event.ts';
import type { FarmList } from '../collectors/farm-list.ts';
import { type FarmTime, FarmTimes, sumOf } from './farm-times.ts';
import { type CreateHistoryThread, HistoryThread } from './history-thread.ts';
import type { Answer } from './keeper.ts';
import { toKept } from './kept-event.ts';
import { Restarts } from './restarts.ts';
import type { Entry, Findings, SeenReading } from './store.ts';
import { WaitingEntries } from './waiting-entries.ts';

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
  readonly createThread?: CreateHistoryThread | undefined;
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
  help: 'Readings and events that could not be written to the history, or read from it (this exporter).',
} as const;

/** A reading by its digest, to know whether the next one says the same. */
interface KnownReading {
  readonly seen: SeenReading;
  readonly digest: string;
  readonly cameMs: number;
  /** The newest `seen` that was written. */
  readonly datedMs: number;
}

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
  readonly #times = new Map<string, { readonly farms: FarmTimes; writtenMs: number }>();
  /** By appliance, collector and farm. */
  readonly #known = new Map<string, KnownReading>();
  readonly #pruning = setInterval(() => this.#prune(), betweenPrunesMs).unref();
  #settings: HistorySettings;
  #thread: HistoryThread;
  readonly #waiting = new WaitingEntries();
  #writing: Promise<void> | undefined;
  #failing: string | undefined;
  #calls = 0;

  constructor(settings: HistorySettings, parts: HistoryParts) {
    this.#parts = parts;
    this.#settings = settings;
    this.#thread = new HistoryThread(settings.file, parts.createThread);
    parts.registry.registerMetric(this.#lost);
    this.#lost.inc(0);
  }

  /** Remembers these appliances and shows their numbers; called after each change of settings. */
  async watch(appliances: readonly RememberedAppliance[], settings = this.#settings): Promise<void> {
    if (settings.file !== this.#settings.file) await this.#leave(settings);
    this.#settings = settings;
    const names = new Set(appliances.map(({ name }) => name));
    for (const name of this.#counts.keys()) if (!names.has(name)) this.#counts.delete(name);
    for (const [key, { seen }] of this.#known) if (!names.has(seen.appliance)) this.#known.delete(key);
    this.#restarts.keepOnly(names);
    for (const name of this.#times.keys()) if (!names.has(name)) this.#times.delete(name);
    for (const { name } of appliances)
      if (!this.#counts.has(name)) this.#counts.set(name, new ChangeCounts(name, this.#parts.store));
    for (const counts of this.#counts.values()) counts.publish();
    // Not awaited: a slow disk does not delay the first poll.
    void this.#learnFarms();
  }

  listenerOf(appliance: RememberedAppliance): StateListener {
    const { name, scope } = appliance;
    return {
      onReading: (reading, transitions, moment) => {
        this.#configured(appliance, reading, moment);
        this.#timed(name, reading, moment);
        if (this.#restarts.isSeenIn(reading, name, scope)) this.#restarted(name, moment);
        for (const ofFarm of Map.groupBy(transitions, ({ labels }) => labels.farm ?? '').values())
          this.#add(stateEvent(ofFarm));
      },
      onRemoved: (origin, why) => {
        // A farm of that name is another one, though it may be configured as this one was.
        if (why === 'gone') this.#known.delete([name, keyOf(origin)].join('\n'));
      },
      onAnswering: (isUp, because) => {
        if (!isUp) this.#times.get(name)?.farms.interrupt();
        this.#answering(name, isUp, because);
      },
    };
  }

  /**
   * Records a call through the gateway that is about to leave. Returns a function to call
   * when it is over; `text` says what became of it, and `status` is that of the answer.
   */
  recordCall(call: GatewayCall, farm: string): (text: string, status: number | undefined) => void {
    this.#calls += 1;
    const { now } = this.#parts;
    const { appliance, by } = call;
    const kept = { ...call, fields: firstFields(call.fields), id: `${this.#calls} ${by}`, fromMs: now() };
    this.#enter({ call: kept }, appliance);
    return (text, status) => {
      const atMs = now();
      // An appliance, or its web server, may give up a call that goes on.
      const isAnswered = status !== undefined && status < 500;
      const untilMs = isAnswered ? atMs : atMs + unansweredMs;
      const ended = isAnswered ? (status < 400 ? 'done' : 'refused') : 'unanswered';
      this.#enter({ call: { ...kept, ended, untilMs } }, appliance);
      this.#add({ kind: 'change', appliance, farm, atMs, by, text, differences: [] });
    };
  }

  /** Notes what the exporter itself did. */
  note(kind: 'reload' | 'start', text: string): void {
    this.#add({ kind, appliance: '', farm: '', atMs: this.#parts.now(), text, differences: [] });
  }

  /** Returns the newest first; rejects where the file cannot be read. */
  async find(query: EventQuery): Promise<FoundEvents> {
    // The thread writes nothing else.
    return JSON.parse(await this.findText(query)) as FoundEvents;
  }

  /** The same as JSON, which costs the event loop nothing. */
  async findText(query: EventQuery): Promise<string> {
    await this.#writing;
    return await this.#thread.find(query);
  }

  /** Returns how long a farm was up, down and in maintenance; rejects where the file cannot be read. */
  async timesOf(appliance: string, farm: string): Promise<readonly FarmTime[]> {
    const { times = [] } = await this.#thread.ask({ do: 'times', appliance, farm });
    return sumOf([...times, ...(this.#times.get(appliance)?.farms.of(farm) ?? [])]);
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning);
    await this.#leave();
  }

  #configured(appliance: RememberedAppliance, found: FoundReading, { atMs, elapsedMs }: Moment): void {
    const { name, scope: address, farmChoice = '' } = appliance;
    const { collector, farm, data, takenAtMs, isWhole } = found;
    const objects = isWhole ? collector.configured?.(data) : undefined;
    if (!objects) return;
    const askedMs = Math.round(atMs - (elapsedMs - takenAtMs));
    const key = [name, keyOf({ collector: collector.name, farm })].join('\n');
    const scope = collector.name === farmList.name ? `${address}\n${farmChoice}` : address;
    const text = JSON.stringify(objects);
    const digest = hash('sha1', `${scope}\n${text}`, 'base64');
    const known = this.#known.get(key);
    const seen = { appliance: name, collector: collector.name, farm: farm ?? '', askedMs };
    const isSame = known?.digest === digest;
    const isDated = isSame && askedMs < known.datedMs + betweenDatesMs;
    const cameMs = Math.round(atMs);
    this.#known.set(key, { seen, digest, cameMs, datedMs: isDated ? known.datedMs : askedMs });
    if (isDated) return;
    const before = { previousAskedMs: known?.seen.askedMs, previousCameMs: known?.cameMs };
    const reading = { ...seen, scope, atMs: cameMs, ...before, objects: text };
    this.#enter(isSame ? { seen: [seen] } : { reading }, name);
  }

  #timed(appliance: string, { collector, data, takenAtMs, lifeMs }: FoundReading, { atMs, elapsedMs }: Moment): void {
    if (collector.name !== farmList.name) return;
    const own = this.#times.get(appliance) ?? { farms: new FarmTimes(), writtenMs: atMs };
    this.#times.set(appliance, own);
    // Only this collector's data has its name.
    own.farms.add((data as FarmList).farms, Math.round(atMs - (elapsedMs - takenAtMs)), lifeMs);
    if (atMs >= own.writtenMs && atMs < own.writtenMs + betweenDatesMs) return;
    own.writtenMs = atMs;
    this.#writeTimes(appliance, own.farms);
  }

  #writeTimes(appliance: string, farms: FarmTimes): void {
    const times = farms.take();
    if (times.length > 0) this.#enter({ times, appliance }, appliance);
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
    const kept = toKept({ ...event, atMs: Math.round(event.atMs) });
    this.#enter({ event: kept }, event.appliance);
  }

  #enter(entry: Entry, appliance: string): void {
    const left = this.#waiting.add(entry, appliance, sizeOf(entry));
    if (left) this.#forget(left.lost, left.appliance);
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    while (!this.#waiting.isEmpty) await this.#writeTo(this.#thread, this.#waiting.take());
    this.#writing = undefined;
  }

  /** Writes entries; what cannot be written is counted as lost. */
  async #writeTo(thread: HistoryThread, entries: readonly Entry[]): Promise<void> {
    try {
      const { changes = [], findings } = await thread.ask({ do: 'write', entries });
      for (const [appliance, own] of Map.groupBy(changes, (each) => each.appliance))
        this.#counts.get(appliance)?.add(own);
      if (findings) this.#tell(thread, findings);
      if (this.#failing !== undefined) this.#parts.log.info('history is written again');
      this.#failing = undefined;
    } catch (error) {
      this.#forget(entries.length);
      this.#failed(thread, error);
    }
  }

  /**
   * Counts entries as lost, of one appliance or of all; its next readings are compared with those
   * on disk.
   */
  #forget(entries: number, appliance?: string): void {
    this.#lost.inc(entries);
    for (const [key, { seen }] of this.#known)
      if (appliance === undefined || seen.appliance === appliance) this.#known.delete(key);
  }

  #tell({ file }: HistoryThread, { damaged, warnings }: Findings): void {
    this.#lost.inc(damaged);
    for (const because of warnings) this.#parts.log.warn({ file, because }, 'a part of the history is left out');
  }

  #failed({ file }: HistoryThread, error: unknown): void {
    const { message } = toError(error);
    if (message !== this.#failing)
      this.#parts.log.error({ file, because: message }, 'history cannot be written; monitoring goes on without it');
    this.#failing = message;
  }

  /** Forgets what is too old. */
  #prune(): void {
    const thread = this.#thread;
    const beforeMs = this.#parts.now() - this.#settings.keepMs;
    thread.ask({ do: 'prune', beforeMs }).catch((error: unknown) => this.#failed(thread, error));
  }

  async #learnFarms(): Promise<void> {
    const thread = this.#thread;
    const { farms = [] } = await thread.ask({ do: 'farms' }).catch((error: unknown): Answer => {
      this.#failed(thread, error);
      return {};
    });
    for (const { appliance, farm, atMs } of farms) this.#counts.get(appliance)?.changedBefore(farm, atMs);
    for (const counts of this.#counts.values()) counts.publish();
  }

  /** Writes what waits and closes the file; what comes meanwhile is written to the next one. */
  async #leave(next?: HistorySettings): Promise<void> {
    this.#enter({ seen: [...this.#known.values()].map(({ seen }) => seen) }, '');
    for (const [appliance, { farms }] of this.#times) this.#writeTimes(appliance, farms);
    this.#prune();
    const [thread, entries] = [this.#thread, this.#waiting.take()];
    if (next) {
      this.#thread = new HistoryThread(next.file, this.#parts.createThread);
      this.#settings = next;
      this.#known.clear();
    }
    // A thread answers one question after another: what is being written is written before.
    await this.#writeTo(thread, entries);
    await thread.ask({ do: 'close' }).catch(() => undefined);
    await thread.terminate();
  }
}

/** How long a call that was not answered may still act. */
const unansweredMs = 600_000;
/** The most characters of the names and values of fields that are kept of a call. */
const maxFields = 4_096;

/** Returns the first fields of a body, which may have tens of thousands. */
function firstFields(fields: GatewayCall['fields']): GatewayCall['fields'] {
  let left = maxFields;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      left -= name.length + (value?.length ?? 0);
      return left < 0 ? [] : [[beginning(name, maxFields), value]];
    }),
  );
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

// Records what changed on appliances. A reading of the configuration goes from `listenerOf` here
// through entry-queue.ts (bounded) and history-thread.ts to the thread: request-handler.ts, store.ts
// (compares it with the previous reading: differences.ts), authors.ts with explanations.ts (finds the
// calls of the gateway that made the differences), stored-event.ts, event-log.ts and database.ts (the
// SQLite file). History owns the thread; one write is under way at a time. Polling never waits for
// it, and a failed write is counted as lost. twin-watch.ts compares twins, and stores nothing.

import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { toError } from '../lib/check.ts';
import { sizeOf } from '../lib/size.ts';
import { truncate } from '../lib/text.ts';
import { type FarmList, farmsCollector } from '../collectors/farms.ts';
import type { MetricsStore } from '../metrics/store.ts';
import type { StateListener } from '../state/appliance-state.ts';
import { readingKey, type Moment, type NewReading } from '../state/reading.ts';
import type { Transition } from '../state/status.ts';
import type { RecordedCall } from './authors.ts';
import { ConfigurationChangeCounts } from './configuration-change-counts.ts';
import { answeringState, type Difference, type EventQuery, type FoundEvents, type NewEvent } from './event.ts';
import { type FarmTime, FarmTimes, mergeTimes } from './farm-times.ts';
import { type CreateHistoryThread, HistoryThread } from './history-thread.ts';
import type { HistoryResponse } from './request-handler.ts';
import { toStoredEvent } from './stored-event.ts';
import { RestartDetector } from './restarts.ts';
import type { Entry, Findings, SeenReading } from './store.ts';
import { EntryQueue } from './entry-queue.ts';

export interface HistorySettings {
  /** An SQLite file; without it, the history stays in memory until the exporter stops. */
  readonly file?: string | undefined;
  readonly keepMs: number;
}

export interface HistoryParts {
  readonly metrics: Pick<MetricsStore, 'put'>;
  readonly registry: Registry;
  readonly log: Logger;
  readonly now: () => number;
  readonly createThread?: CreateHistoryThread | undefined;
}

/** An appliance whose history is recorded. */
export interface TrackedAppliance {
  readonly name: string;
  /** Readings of different addresses are not compared. */
  readonly address: string;
  /** The patterns that choose its farms, as text; lists that others chose are not compared. */
  readonly farmChoice?: string;
}

export const lostMetric = {
  name: 'zlb_exporter_history_lost_total',
  help: 'Readings and events that could not be written to the history, or read from it (this exporter).',
} as const;

/** The digest of the last reading, to know whether the next one differs. */
interface LastReading {
  readonly seen: SeenReading;
  readonly digest: string;
  readonly cameMs: number;
  /** The newest `askedMs` that was written. */
  readonly writtenAskedMs: number;
}

/** The state of an appliance since the start. */
class TrackedState {
  readonly counts: ConfigurationChangeCounts;
  readonly restarts = new RestartDetector();
  readonly times = new FarmTimes();
  timesWrittenMs: number | undefined;
  /** By {@link readingKey}. */
  readonly lastReadings = new Map<string, LastReading>();

  constructor(appliance: string, metrics: HistoryParts['metrics']) {
    this.counts = new ConfigurationChangeCounts(appliance, metrics);
  }
}

const pruneIntervalMs = 600_000;
/** How often unchanged readings and times of farms are written: a kill loses as much. */
const writeIntervalMs = 600_000;

/** Records what changed on appliances, and finds it again; see the head of this file. */
export class History {
  readonly #parts: HistoryParts;
  readonly #lost = new Counter({ ...lostMetric, registers: [] });
  readonly #tracked = new Map<string, TrackedState>();
  readonly #pruning = setInterval(() => this.#prune(), pruneIntervalMs).unref();
  #settings: HistorySettings;
  #thread: HistoryThread;
  readonly #queue = new EntryQueue();
  #writing: Promise<void> | undefined;
  #lastFailure: string | undefined;
  #calls = 0;

  constructor(settings: HistorySettings, parts: HistoryParts) {
    this.#parts = parts;
    this.#settings = settings;
    this.#thread = new HistoryThread(settings.file, parts.createThread);
    parts.registry.registerMetric(this.#lost);
    this.#lost.inc(0);
  }

  /** Sets the appliances whose history is recorded; called after each change of settings. */
  async watch(appliances: readonly TrackedAppliance[], settings = this.#settings): Promise<void> {
    if (settings.file !== this.#settings.file) await this.#switchTo(settings);
    this.#settings = settings;
    const names = new Set(appliances.map(({ name }) => name));
    for (const name of this.#tracked.keys()) if (!names.has(name)) this.#tracked.delete(name);
    for (const name of names) this.#trackedOf(name).counts.publish();
    // Not awaited: a slow disk does not delay the first poll.
    void this.#loadChangedFarms();
  }

  listenerOf(appliance: TrackedAppliance): StateListener {
    const { name, address } = appliance;
    return {
      onReading: (reading, transitions, moment) => {
        this.#recordConfiguration(appliance, reading, moment);
        this.#recordFarmTimes(name, reading, moment);
        if (this.#trackedOf(name).restarts.detect(reading, address)) this.#recordRestart(name, moment);
        for (const ofFarm of Map.groupBy(transitions, ({ labels }) => labels.farm ?? '').values())
          this.#addEvent(stateEvent(ofFarm));
      },
      onRemoved: (origin, why) => {
        // A later farm of that name is another one, even with the same configuration.
        if (why === 'gone') this.#trackedOf(name).lastReadings.delete(readingKey(origin));
      },
      onAnswering: (isUp, because) => {
        if (!isUp) this.#trackedOf(name).times.interrupt();
        this.#recordAvailability(name, isUp, because);
      },
    };
  }

  /**
   * Records a call through the gateway that is about to be sent. Returns a function to call when it
   * is over, with a text about its outcome and the status of the response.
   */
  recordCall(call: RecordedCall, farm: string): (text: string, status: number | undefined) => void {
    this.#calls += 1;
    const { now } = this.#parts;
    const { appliance, by } = call;
    const stored = { ...call, fields: firstFields(call.fields), id: `${this.#calls} ${by}`, fromMs: now() };
    this.#enqueue({ call: stored }, appliance);
    return (text, status) => {
      const atMs = now();
      // After a 5xx, the appliance may still be at work.
      const isAnswered = status !== undefined && status < 500;
      const untilMs = isAnswered ? atMs : atMs + unansweredMs;
      const ended = isAnswered ? (status < 400 ? 'done' : 'refused') : 'unanswered';
      this.#enqueue({ call: { ...stored, ended, untilMs } }, appliance);
      this.#addEvent({ kind: 'change', appliance, farm, atMs, by, text, differences: [] });
    };
  }

  /** Records what the exporter itself did. */
  recordExporterEvent(kind: 'reload' | 'start', text: string): void {
    this.#addEvent({ kind, appliance: '', farm: '', atMs: this.#parts.now(), text, differences: [] });
  }

  /** Returns the newest events first; rejects if the file cannot be read. */
  async find(query: EventQuery): Promise<FoundEvents> {
    // Only the thread writes this JSON.
    return JSON.parse(await this.findText(query)) as FoundEvents;
  }

  /** The same as JSON, which does not block the event loop. */
  async findText(query: EventQuery): Promise<string> {
    await this.#writing;
    const [lost] = (await this.#lost.get()).values;
    return await this.#thread.find(query, lost?.value === 0 ? undefined : lost?.value);
  }

  /** Returns how long a farm was up, down and in maintenance; rejects if the file cannot be read. */
  async timesOf(appliance: string, farm: string): Promise<readonly FarmTime[]> {
    await this.#writing;
    // Before the request: what is taken after it is not in the file yet.
    const recent = this.#tracked.get(appliance)?.times.of(farm) ?? [];
    const { times = [] } = await this.#thread.request({ do: 'times', appliance, farm });
    return mergeTimes([...times, ...recent]);
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning);
    await this.#switchTo();
  }

  #trackedOf(appliance: string): TrackedState {
    const tracked = this.#tracked.get(appliance) ?? new TrackedState(appliance, this.#parts.metrics);
    this.#tracked.set(appliance, tracked);
    return tracked;
  }

  #recordConfiguration(appliance: TrackedAppliance, found: NewReading, { atMs, atElapsedMs }: Moment): void {
    const { name, address, farmChoice = '' } = appliance;
    const { collector, farm, data, askedAtElapsedMs, isWhole } = found;
    const objects = isWhole ? collector.configuredObjects?.(data) : undefined;
    if (!objects) return;
    const askedMs = Math.round(atMs - (atElapsedMs - askedAtElapsedMs));
    const key = readingKey({ collector: collector.name, farm });
    const { lastReadings } = this.#trackedOf(name);
    const scope = collector.name === farmsCollector.name ? `${address}\n${farmChoice}` : address;
    const text = JSON.stringify(objects);
    const digest = hash('sha1', `${scope}\n${text}`, 'base64');
    const last = lastReadings.get(key);
    const seen = { appliance: name, collector: collector.name, farm: farm ?? '', askedMs };
    const isSame = last?.digest === digest;
    const isWritten = isSame && askedMs < last.writtenAskedMs + writeIntervalMs;
    const cameMs = Math.round(atMs);
    lastReadings.set(key, { seen, digest, cameMs, writtenAskedMs: isWritten ? last.writtenAskedMs : askedMs });
    if (isWritten) return;
    const before = { previousAskedMs: last?.seen.askedMs, previousCameMs: last?.cameMs };
    const reading = { ...seen, scope, cameMs, ...before, objects: text };
    this.#enqueue(isSame ? { seen: [seen] } : { reading }, name);
  }

  #recordFarmTimes(
    appliance: string,
    { collector, data, askedAtElapsedMs, lifeMs }: NewReading,
    { atMs, atElapsedMs }: Moment,
  ): void {
    if (collector.name !== farmsCollector.name) return;
    const tracked = this.#trackedOf(appliance);
    tracked.timesWrittenMs ??= atMs;
    // Only this collector's data has its name.
    tracked.times.add((data as FarmList).farms, Math.round(atMs - (atElapsedMs - askedAtElapsedMs)), lifeMs);
    if (atMs >= tracked.timesWrittenMs && atMs < tracked.timesWrittenMs + writeIntervalMs) return;
    tracked.timesWrittenMs = atMs;
    this.#writeTimes(appliance, tracked.times);
  }

  #writeTimes(appliance: string, farms: FarmTimes): void {
    const times = farms.take();
    if (times.length > 0) this.#enqueue({ times, appliance }, appliance);
  }

  #recordRestart(appliance: string, { atMs }: Moment): void {
    const text = 'restarted: its interfaces count their traffic from 0';
    this.#addEvent({ kind: 'restart', appliance, farm: '', atMs, text, differences: [] });
  }

  #recordAvailability(appliance: string, isUp: boolean, because: string | undefined): void {
    const states = [
      answeringState,
      because === undefined ? 'does not answer' : `does not answer (${because})`,
    ] as const;
    const [before, after] = isUp ? states.toReversed() : states;
    const differences = [
      { object: 'appliance', farm: '', service: '', name: appliance, setting: 'state', before, after } as const,
    ];
    this.#addEvent({ kind: 'state', appliance, farm: '', atMs: this.#parts.now(), differences });
  }

  #addEvent(event: NewEvent): void {
    this.#enqueue({ event: toStoredEvent({ ...event, atMs: Math.round(event.atMs) }) }, event.appliance);
  }

  #enqueue(entry: Entry, appliance: string): void {
    const overflow = this.#queue.add(entry, appliance, sizeOf(entry));
    if (overflow) this.#countLost(overflow.dropped, overflow.appliance);
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (!this.#queue.isEmpty) await this.#writeTo(this.#thread, this.#queue.take());
    this.#writing = undefined;
  }

  /** Writes entries, or counts them as lost. */
  async #writeTo(thread: HistoryThread, entries: readonly Entry[]): Promise<void> {
    try {
      const { changes = [], findings } = await thread.request({ do: 'write', entries });
      for (const [appliance, events] of Map.groupBy(changes, (each) => each.appliance))
        this.#tracked.get(appliance)?.counts.add(events);
      if (findings) this.#reportFindings(thread, findings);
      if (this.#lastFailure !== undefined) this.#parts.log.info('history is written again');
      this.#lastFailure = undefined;
    } catch (error) {
      this.#countLost(entries.length);
      this.#logFailure(thread, error);
    }
  }

  /** Counts entries of one appliance, or of all, as lost; the next readings are written again. */
  #countLost(entries: number, appliance?: string): void {
    this.#lost.inc(entries);
    for (const [name, { lastReadings }] of this.#tracked)
      if (appliance === undefined || name === appliance) lastReadings.clear();
  }

  #reportFindings({ file }: HistoryThread, { damaged, warnings }: Findings): void {
    this.#lost.inc(damaged);
    for (const because of warnings) this.#parts.log.warn({ file, because }, 'a part of the history is left out');
  }

  #logFailure({ file }: HistoryThread, error: unknown): void {
    const { message } = toError(error);
    if (message !== this.#lastFailure)
      this.#parts.log.error({ file, because: message }, 'history cannot be written; monitoring goes on without it');
    this.#lastFailure = message;
  }

  /** Removes what is older than `keepMs`. */
  #prune(): void {
    const thread = this.#thread;
    const beforeMs = this.#parts.now() - this.#settings.keepMs;
    thread.request({ do: 'prune', beforeMs }).catch((error: unknown) => this.#logFailure(thread, error));
  }

  async #loadChangedFarms(): Promise<void> {
    const thread = this.#thread;
    const { farms = [] } = await thread.request({ do: 'farms' }).catch((error: unknown): HistoryResponse => {
      this.#logFailure(thread, error);
      return {};
    });
    for (const { appliance, farm, atMs } of farms) this.#tracked.get(appliance)?.counts.addEarlierChange(farm, atMs);
    for (const { counts } of this.#tracked.values()) counts.publish();
  }

  /** Writes the queue and closes the file. With `next`, later entries go to the next file. */
  async #switchTo(next?: HistorySettings): Promise<void> {
    const tracked = [...this.#tracked];
    const seen = tracked.flatMap(([, { lastReadings }]) => [...lastReadings.values()].map((each) => each.seen));
    this.#enqueue({ seen }, '');
    for (const [appliance, { times }] of tracked) this.#writeTimes(appliance, times);
    this.#prune();
    const [thread, entries] = [this.#thread, this.#queue.take()];
    if (next) {
      this.#thread = new HistoryThread(next.file, this.#parts.createThread);
      this.#settings = next;
      for (const [, { lastReadings }] of tracked) lastReadings.clear();
    }
    // The thread answers in order, so a write under way ends first.
    await this.#writeTo(thread, entries);
    await thread.request({ do: 'close' }).catch(() => undefined);
    const ended = thread.terminate();
    // A disk that hangs holds the thread for ever: a reload does not wait for that.
    if (!next) await ended;
  }
}

/** How long a call without a response may still act. */
const unansweredMs = 600_000;
/** The most characters of the names and values of the stored fields of a call. */
const maxFields = 4_096;

/** Returns the first fields of a body; it may have tens of thousands. */
function firstFields(fields: RecordedCall['fields']): RecordedCall['fields'] {
  let left = maxFields;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      left -= name.length + (value?.length ?? 0);
      return left < 0 ? [] : [[truncate(name, maxFields), value]];
    }),
  );
}

/** Creates one event of the transitions of a farm between two readings. */
function stateEvent(transitions: readonly Transition[]): NewEvent {
  const differences = transitions.map(({ object, labels, from, to }): Difference => {
    const { farm = '', service = '', backend, file, interface: named } = labels;
    return { object, farm, service, name: backend ?? file ?? named ?? farm, setting: 'state', before: from, after: to };
  });
  const { appliance = '', atMs = 0 } = transitions[0] ?? {};
  return { kind: 'state', appliance, farm: differences[0]?.farm ?? '', atMs, differences };
}

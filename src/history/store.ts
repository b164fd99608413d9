// Stores the history, in its own thread: readings of the configuration, events, calls of the gateway
// and the times of farms. `write` compares each reading with the previous one, and makes events of
// the differences, by author. Read on in differences.ts, authors.ts, event-log.ts and database.ts.

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ConfiguredObject } from '../collectors/configured.ts';
import { isRecord, parseJson } from '../lib/check.ts';
import { authorOf, type RecordedCall, splitReplacements } from './authors.ts';
import { HistoryDatabase } from './database.ts';
import { compareConfigured, type AttributableDifference, toDifference, withFormerSettings } from './differences.ts';
import type { Difference, EventQuery, FoundEvents, NewEvent } from './event.ts';
import { EventLog } from './event-log.ts';
import { type FarmTime, storedPeriods, maxTimedFarms, type TimedFarm } from './farm-times.ts';
import { type StoredEvent, toStoredEvent } from './stored-event.ts';
import { maxReadingBytes, StorageLimits } from './storage-limits.ts';

export interface ConfiguredReading {
  readonly appliance: string;
  readonly collector: string;
  /** Empty for a reading of the whole appliance. */
  readonly farm: string;
  /** The address of the appliance; of a list of farms, also the patterns that choose them. Others are not compared. */
  readonly scope: string;
  /** When it was requested, and when it came. */
  readonly askedMs: number;
  readonly cameMs: number;
  /** The same of the previous reading, if this process saw it. */
  readonly previousAskedMs?: number | undefined;
  readonly previousCameMs?: number | undefined;
  /** JSON, which is cheaper to pass to a thread than a list. */
  readonly objects: string;
}

/** An unchanged reading; only its time is stored. */
export type SeenReading = Pick<ConfiguredReading, 'appliance' | 'collector' | 'farm' | 'askedMs'>;

/** A call as it is stored; `untilMs` is absent while it is under way. */
export interface StoredCall extends RecordedCall {
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs?: number;
}

/** One entry of a write. */
export type Entry =
  | { readonly reading: ConfiguredReading }
  | { readonly seen: readonly SeenReading[] }
  | { readonly call: StoredCall }
  | { readonly times: readonly TimedFarm[]; readonly appliance: string }
  | { readonly event: StoredEvent };

/** The most calls of an appliance that are stored as possible authors. */
const maxCalls = 10_000;

/** Damaged rows and warnings since the last call of `takeFindings`. */
export interface Findings {
  readonly damaged: number;
  readonly warnings: readonly string[];
}

export class HistoryStore {
  readonly #database: HistoryDatabase;
  readonly #events: EventLog;
  readonly #limits: StorageLimits;
  readonly #damaged = new Set<string>();
  readonly #warnedAbout = new Set<string>();
  #newlyDamaged = 0;
  #warnings: string[] = [];

  /** Throws the error of SQLite, and for a file that is not a history. */
  constructor(file: string) {
    this.#database = new HistoryDatabase(file);
    this.#events = new EventLog(this.#database, (row) => this.#countDamaged(row));
    this.#limits = new StorageLimits(this.#database, file);
    // After a kill, no call is under way.
    this.#database.run('UPDATE calls SET untilMs = fromMs WHERE untilMs IS NULL', {});
  }

  /**
   * Writes all entries, or none and throws. Returns the events of the configuration: a reading that
   * differs from the previous one makes events, the first of its kind none.
   */
  write(entries: readonly Entry[]): readonly NewEvent[] {
    return this.#database.inTransaction(() => {
      const changes = entries.flatMap((entry) => this.#writeOne(entry));
      this.#limits.fitEvents();
      return changes;
    });
  }

  find(query: EventQuery): FoundEvents {
    return this.#events.find(query);
  }

  /** Returns when the configuration of each existing farm was last seen to change. */
  changedFarms(): readonly { readonly appliance: string; readonly farm: string; readonly atMs: number }[] {
    return this.#database.rows(
      `SELECT appliance, farm, max(changedMs) AS atMs FROM readings WHERE farm <> '' AND changedMs IS NOT NULL GROUP BY 1, 2`,
    );
  }

  /** Returns how long a farm was up, down and in maintenance. */
  timesOf(appliance: string, farm: string): readonly FarmTime[] {
    return this.#database.rows(
      'SELECT spanMs, fromMs, up, down, maintenance FROM farm_times WHERE appliance = :appliance AND farm = :farm',
      { appliance, farm },
    );
  }

  /** Deletes what is older. */
  prune(beforeMs: number): void {
    this.#database.inTransaction(() => {
      this.#database.run('DELETE FROM events WHERE atMs < :beforeMs', { beforeMs });
      this.#database.run('DELETE FROM farm_times WHERE fromMs < :beforeMs', { beforeMs });
      this.#database.run('DELETE FROM calls WHERE ifnull(untilMs, fromMs) < :beforeMs', { beforeMs });
      this.#database.run('DELETE FROM readings WHERE seenMs < :beforeMs', { beforeMs });
    });
  }

  /** Returns what was found since the last call; each warning only once. */
  takeFindings(): Findings {
    const findings = { damaged: this.#newlyDamaged, warnings: this.#warnings };
    this.#newlyDamaged = 0;
    this.#warnings = [];
    return findings;
  }

  close(): void {
    this.#database.close();
  }

  #writeOne(entry: Entry): readonly NewEvent[] {
    if ('reading' in entry) return this.#compare(entry.reading);
    if ('event' in entry) this.#events.add(entry.event);
    else if ('times' in entry) this.#writeTimes(entry);
    else if ('call' in entry) this.#writeCall(entry.call);
    else this.#writeSeen(entry.seen);
    return [];
  }

  #writeCall({ id, fromMs, untilMs, ...call }: StoredCall): void {
    const { appliance } = call;
    this.#database.run(
      `INSERT INTO calls (id, appliance, fromMs, untilMs, call) VALUES (:id, :appliance, :fromMs, :untilMs, :text)
       ON CONFLICT DO UPDATE SET untilMs = excluded.untilMs, call = excluded.call`,
      { id, appliance, fromMs, untilMs: untilMs ?? null, text: JSON.stringify(call) },
    );
    this.#database.run(
      `DELETE FROM calls WHERE id IN (
         SELECT id FROM calls WHERE appliance = :appliance ORDER BY fromMs DESC LIMIT -1 OFFSET :maxCalls)`,
      { appliance, maxCalls },
    );
  }

  #writeTimes({ appliance, times }: Extract<Entry, { readonly times: unknown }>): void {
    for (const time of times)
      this.#database.run(
        `INSERT INTO farm_times (appliance, farm, spanMs, fromMs, up, down, maintenance)
         VALUES (:appliance, :farm, :spanMs, :fromMs, :up, :down, :maintenance)
         ON CONFLICT DO UPDATE SET up = up + excluded.up, down = down + excluded.down,
           maintenance = maintenance + excluded.maintenance`,
        { ...time, appliance },
      );
    const newestMs = Math.max(...times.map(({ fromMs, spanMs }) => fromMs + spanMs));
    for (const { spanMs, count } of storedPeriods)
      this.#database.run(
        'DELETE FROM farm_times WHERE appliance = :appliance AND spanMs = :spanMs AND fromMs < :beforeMs',
        { appliance, spanMs, beforeMs: newestMs - (count + 1) * spanMs },
      );
    // Above the limit, the farms with the least time go first.
    this.#database.run(
      `DELETE FROM farm_times WHERE appliance = :appliance AND farm IN (
         SELECT farm FROM farm_times WHERE appliance = :appliance GROUP BY farm
         ORDER BY max(fromMs) DESC, sum(up + down + maintenance) DESC LIMIT -1 OFFSET :maxTimedFarms)`,
      { appliance, maxTimedFarms },
    );
  }

  #writeSeen(readings: readonly SeenReading[]): void {
    const update = `UPDATE readings SET seenMs = max(seenMs, :askedMs) WHERE ${sameOrigin}`;
    for (const reading of readings) this.#database.run(update, { ...reading });
  }

  #compare(reading: ConfiguredReading): readonly NewEvent[] {
    const { appliance, askedMs, cameMs, previousAskedMs, objects: text } = reading;
    const objects = parseObjects(text) ?? [];
    const before = this.#previousReading(reading);
    this.#writeReading(reading, before ? JSON.stringify(withFormerSettings(before.objects, objects)) : text);
    if (!before) return [];
    // After the clock was set back, the stored times may be in the future.
    const seen = [before.seenMs, previousAskedMs].filter((ms): ms is number => ms !== undefined && ms <= cameMs);
    const between = { sinceMs: seen.length > 0 ? Math.max(...seen) : askedMs, atMs: cameMs };
    const found = compareConfigured(before.objects, objects);
    const calls = found.length > 0 ? this.#callsOf(reading, between) : [];
    const differences = splitReplacements(found, calls);
    for (const { object, farm, setting, before: from = '', after } of differences) {
      if (object !== 'farm') continue;
      if (setting === 'name' && after !== undefined) this.#renameFarm(appliance, from, after);
      if (after === undefined)
        this.#database.run('DELETE FROM readings WHERE appliance = :appliance AND farm = :farm', { appliance, farm });
    }
    const events = this.#eventsByAuthor(appliance, differences, calls, between);
    for (const event of events) this.#events.add(toStoredEvent(event));
    this.#dateFarms(appliance, events);
    return events;
  }

  /** Returns the stored reading of this origin and scope; undefined if there is none, or a damaged one. */
  #previousReading({ appliance, collector, farm, scope }: ConfiguredReading) {
    const [row] = this.#database.rows<{
      readonly scope: string;
      readonly seenMs: number;
      readonly objects: Uint8Array;
    }>(`SELECT scope, seenMs, objects FROM readings WHERE ${sameOrigin}`, { appliance, collector, farm });
    if (row?.scope !== scope) return undefined;
    const objects = decompress(row.objects);
    if (!objects) this.#countDamaged(`reading of ${[appliance, collector, farm].filter(Boolean).join(', ')}`);
    return objects && { seenMs: row.seenMs, objects };
  }

  #writeReading({ appliance, collector, farm, scope, askedMs }: ConfiguredReading, text: string): void {
    this.#database.run(
      `INSERT INTO readings (appliance, collector, farm, scope, seenMs, objects)
       VALUES (:appliance, :collector, :farm, :scope, :askedMs, :bytes)
       ON CONFLICT DO UPDATE SET scope = excluded.scope, seenMs = excluded.seenMs, objects = excluded.objects`,
      { appliance, collector, farm, scope, askedMs, bytes: compress(text) },
    );
    if (this.#limits.fitReadings(appliance) > 0)
      this.#warn(
        appliance,
        `the configuration of ${appliance} takes more than ${maxReadingBytes} bytes; the parts that were read longest ago are not compared`,
      );
  }

  /** Stores when the farms in the events changed. */
  #dateFarms(appliance: string, events: readonly NewEvent[]): void {
    const changed = new Map(events.flatMap(({ atMs, differences }) => differences.map(({ farm }) => [farm, atMs])));
    const update = 'UPDATE readings SET changedMs = :atMs WHERE appliance = :appliance AND farm = :farm';
    for (const [farm, atMs] of changed) if (farm !== '') this.#database.run(update, { appliance, farm, atMs });
  }

  /** Returns one event for each author of the differences. */
  #eventsByAuthor(
    appliance: string,
    differences: readonly AttributableDifference[],
    calls: readonly RecordedCall[],
    { sinceMs, atMs }: { readonly sinceMs: number; readonly atMs: number },
  ): readonly NewEvent[] {
    const reported = this.#reportedChecks(appliance, differences, sinceMs);
    return [...Map.groupBy(differences, (each) => authorOf(each, calls))].flatMap(([by, found]) => {
      const unreported = found.map(toDifference).filter((each) => !reported.has(JSON.stringify(each)));
      return unreported.length === 0
        ? []
        : {
            kind: 'configuration',
            appliance,
            farm: commonFarm(unreported),
            atMs,
            sinceMs,
            by,
            differences: unreported,
          };
    });
  }

  /**
   * Returns the calls whose effects a reading may show, the newest first. Calls to a renamed farm get
   * its present name.
   */
  #callsOf(
    { appliance, farm, askedMs, previousCameMs }: ConfiguredReading,
    { sinceMs, atMs }: { readonly sinceMs: number; readonly atMs: number },
  ): readonly RecordedCall[] {
    const fromMs = previousCameMs !== undefined && previousCameMs <= atMs ? previousCameMs : sinceMs;
    const rows = this.#database.rows<CallRow>(
      `SELECT id, call, fromMs >= :fromMs AND ifnull(untilMs <= :askedMs, 0) AS isBetween FROM calls
       WHERE appliance = :appliance AND fromMs <= :atMs AND ifnull(untilMs, :atMs) >= :sinceMs ORDER BY fromMs DESC`,
      { appliance, sinceMs, atMs, fromMs, askedMs },
    );
    const former = farm === '' || rows.length === 0 ? new Set<string>() : this.#namesOf(appliance, farm, sinceMs);
    return rows.flatMap(({ id, call: text, isBetween }) => {
      const call = parseJson(text);
      if (!isRecord(call)) this.#countDamaged(`call ${id}`);
      if (!isRecord(call)) return [];
      // Only `#writeCall` writes this column.
      const { params, ...known } = call as unknown as RecordedCall;
      const isOfFarm = former.has(params.farmname ?? '');
      return { ...known, params: isOfFarm ? { ...params, farmname: farm } : params, isBetween: isBetween === 1 };
    });
  }

  /** Returns all names of a farm since then. */
  #namesOf(appliance: string, farm: string, sinceMs: number): ReadonlySet<string> {
    const names = new Set([farm]);
    const renamed = this.#events
      .recent(appliance, sinceMs)
      .flatMap(({ differences }) =>
        differences.filter(({ object, setting }) => object === 'farm' && setting === 'name'),
      );
    for (const { name, after = '' } of renamed.toReversed()) if (names.has(after)) names.add(name);
    return names;
  }

  /** Returns the differences of checks that another farm of the same round has reported. */
  #reportedChecks(appliance: string, differences: readonly Difference[], sinceMs: number): ReadonlySet<string> {
    const isOfCheck = ({ object }: Difference): boolean => object === 'check';
    if (!differences.some(isOfCheck)) return new Set();
    const reported = this.#events.recent(appliance, sinceMs).flatMap((event) => event.differences.filter(isOfCheck));
    return new Set(reported.map((difference) => JSON.stringify(difference)));
  }

  #renameFarm(appliance: string, from: string, to: string): void {
    const readings = this.#database.rows<{ readonly collector: string; readonly objects: Uint8Array }>(
      'SELECT collector, objects FROM readings WHERE appliance = :appliance AND farm = :from',
      { appliance, from },
    );
    this.#database.run('DELETE FROM readings WHERE appliance = :appliance AND farm = :to', { appliance, to });
    for (const { collector, objects } of readings) {
      // A damaged reading is counted when it is compared.
      const renamed = decompress(objects)?.map((object) => ({
        ...object,
        ...(object.farm === from && { farm: to }),
        ...(object.object === 'farm' && { name: to }),
      }));
      this.#database.run(
        `UPDATE readings SET farm = :to, objects = :bytes
         WHERE appliance = :appliance AND collector = :collector AND farm = :from`,
        { appliance, collector, from, to, bytes: renamed ? compress(JSON.stringify(renamed)) : objects },
      );
    }
  }

  /** Counts a row that cannot be read; the first one is a warning. */
  #countDamaged(row: string): void {
    if (this.#damaged.has(row)) return;
    this.#damaged.add(row);
    this.#newlyDamaged += 1;
    this.#warn(
      'damaged',
      `${row} cannot be read and is left out, as later damaged ones will be; everything else continues. If zlb_exporter_history_lost_total rises, check the disk, and name another file as history.file`,
    );
  }

  /** Adds a warning, unless there was one about the same. */
  #warn(about: string, warning: string): void {
    if (this.#warnedAbout.has(about)) return;
    this.#warnedAbout.add(about);
    this.#warnings.push(warning);
  }
}

interface CallRow {
  readonly id: string;
  readonly call: string;
  readonly isBetween: number;
}

const sameOrigin = 'appliance = :appliance AND collector = :collector AND farm = :farm';

/** Longer than any reading; somebody else may have written the file. */
const maxDecompressedBytes = 8 * maxReadingBytes;

/** Compresses to about a fifth, because objects are similar. */
function compress(objects: string): Uint8Array {
  return deflateRawSync(objects);
}

/** Returns undefined if damaged. */
function decompress(bytes: Uint8Array): readonly ConfiguredObject[] | undefined {
  try {
    return parseObjects(inflateRawSync(bytes, { maxOutputLength: maxDecompressedBytes }).toString());
  } catch {
    return undefined;
  }
}

/** Parses a list of objects; undefined for any other text. */
function parseObjects(text: string): readonly ConfiguredObject[] | undefined {
  const list = parseJson(text);
  const isWhole = Array.isArray(list) && list.every((each) => isRecord(each) && isRecord(each.settings));
  // Only objects are written to this column.
  return isWhole ? (list as readonly ConfiguredObject[]) : undefined;
}

/** Returns the only farm of all differences; empty if there are several. */
function commonFarm(differences: readonly Difference[]): string {
  const [farm = '', ...others] = new Set(differences.map((difference) => difference.farm));
  return others.length === 0 ? farm : '';
}

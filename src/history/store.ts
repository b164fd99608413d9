import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ConfiguredObject } from '../collectors/configured.ts';
import { explains, type Touch } from './authors.ts';
import { compareConfigured, type FoundDifference, objectKey, reversed, withFormerSettings } from './differences.ts';
import { type Difference, elsewhere, type EventQuery, type HistoryEvent, type NewEvent } from './event.ts';

/** The configured objects of a reading. */
export interface ConfiguredReading {
  readonly appliance: string;
  readonly collector: string;
  /** Empty for a reading of the whole appliance. */
  readonly farm: string;
  /** The address of the appliance, and the choice of a list of farms; others are not compared. */
  readonly scope: string;
  /** When it was asked for, and when it came. */
  readonly askedMs: number;
  readonly atMs: number;
  /** When the last one was asked for that said the same, if this process saw it. */
  readonly seenMs?: number | undefined;
  readonly objects: readonly ConfiguredObject[];
}

/** When a reading was asked for last. */
export type SeenReading = Pick<ConfiguredReading, 'appliance' | 'collector' | 'farm' | 'askedMs'>;

/** A touch that is kept; it is under way without an end. */
export interface KeptTouch extends Touch {
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs?: number;
}

/** A part of what is written. */
export type Entry =
  | { readonly reading: ConfiguredReading }
  | { readonly seen: readonly SeenReading[] }
  | { readonly touch: KeptTouch }
  | { readonly event: NewEvent };

/** Stands for a file, see SQLite. */
export const inMemory = ':memory:';
/** The word ZLBH, by which the file is known. */
const applicationId = 0x5a_4c_42_48;
const formatVersion = 1;
/** The most events that are kept in a file, and in memory. */
export const maxEvents = { file: 100_000, memory: 10_000 } as const;
/** Events that repeat within this time are counted as one. */
const repeatMs = 3_600_000;
/** More differences of one author, in several events within `burstMs`, become one event. */
const burstDifferences = 50;
const burstEvents = 5;
const burstMs = 900_000;
/** Differences of one event that are listed. */
const maxListed = 1_000;

const tables = `
  CREATE TABLE readings (
    appliance TEXT, collector TEXT, farm TEXT, scope TEXT NOT NULL, seen INTEGER NOT NULL, objects BLOB NOT NULL,
    PRIMARY KEY (appliance, collector, farm)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, appliance TEXT NOT NULL, at INTEGER NOT NULL,
    subject TEXT NOT NULL, event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_subject ON events (appliance, subject, at);
  CREATE INDEX events_at ON events (at);
  CREATE INDEX events_appliance ON events (appliance, at);
  CREATE TABLE touches (
    id TEXT PRIMARY KEY, appliance TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER, touch TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
`;

type Values = Readonly<Record<string, string | number | null | Uint8Array>>;

/** The history in a file of SQLite, or in memory. */
export class HistoryStore {
  readonly #database: DatabaseSync;
  readonly #maxEvents: number;

  /** Throws the error of SQLite, and for a file that is no history. */
  constructor(file: string) {
    this.#maxEvents = file === inMemory ? maxEvents.memory : maxEvents.file;
    this.#database = new DatabaseSync(file, { timeout: 0 });
    try {
      // No other process writes it; a lost second after a power failure is no loss.
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
      const number = (name: string): unknown => this.#rows<Record<string, unknown>>(`PRAGMA ${name}`)[0]?.[name];
      const isEmpty = this.#rows('SELECT 1 FROM sqlite_schema').length === 0;
      if (isEmpty) this.#inOne(() => this.#database.exec(tables));
      if (number('application_id') !== applicationId || number('user_version') !== formatVersion)
        throw new Error(`${file} is another file than a history of this version; name another one as history.file`);
      // A call of a process that was killed is under way no more.
      this.#run('UPDATE touches SET until = since WHERE until IS NULL', {});
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /**
   * Writes all entries, or none and throws. Returns what is new of the events: a reading that
   * differs from the one before makes events, the first of its kind none.
   */
  write(entries: readonly Entry[]): readonly HistoryEvent[] {
    return this.#inOne(() => entries.flatMap((entry) => this.#writeOne(entry)));
  }

  /** Returns the newest first. */
  find({ appliance, farm, sinceMs = 0, kinds, limit }: EventQuery): readonly HistoryEvent[] {
    return this.#events(
      `at >= :sinceMs AND (:appliance IS NULL OR appliance IN (:appliance, ''))
       AND (:farm IS NULL OR appliance = '' OR (instr(event, :quoted) > 0 AND (
         event ->> '$.farm' = :farm OR EXISTS (
           SELECT 1 FROM json_each(event, '$.differences') WHERE value ->> '$.farm' = :farm))))
       AND (:kinds IS NULL OR event ->> '$.kind' IN (SELECT value FROM json_each(:kinds)))
       ORDER BY at DESC, id DESC LIMIT :limit`,
      {
        sinceMs,
        appliance: appliance ?? null,
        farm: farm ?? null,
        quoted: JSON.stringify(farm ?? ''),
        kinds: kinds ? JSON.stringify(kinds) : null,
        limit,
      },
    );
  }

  /** Returns when the configuration of each farm that there is was last seen to change. */
  changedFarms(): readonly { readonly appliance: string; readonly farm: string; readonly atMs: number }[] {
    return this.#rows(
      `SELECT readings.appliance, readings.farm, max(at) AS atMs FROM events
       JOIN json_each(event, '$.differences') JOIN readings
         ON readings.appliance = events.appliance AND readings.farm = value ->> '$.farm'
       WHERE event ->> '$.kind' = 'configuration' GROUP BY 1, 2`,
    );
  }

  /** Forgets what is older, and all above the limit. */
  prune(beforeMs: number): void {
    this.#inOne(() => {
      this.#run('DELETE FROM events WHERE at < :beforeMs OR id <= (SELECT max(id) FROM events) - :maxEvents', {
        beforeMs,
        maxEvents: this.#maxEvents,
      });
      this.#run('DELETE FROM touches WHERE ifnull(until, since) < :beforeMs', { beforeMs });
      this.#run('DELETE FROM readings WHERE seen < :beforeMs', { beforeMs });
    });
  }

  close(): void {
    this.#database.close();
  }

  #writeOne(entry: Entry): readonly HistoryEvent[] {
    if ('reading' in entry) return this.#compare(entry.reading);
    if ('event' in entry) return [this.#addOne(entry.event)];
    if ('touch' in entry) this.#touch(entry.touch);
    else this.#seen(entry.seen);
    return [];
  }

  #touch({ id, fromMs, untilMs, ...touch }: KeptTouch): void {
    this.#run(
      `INSERT OR REPLACE INTO touches (id, appliance, since, until, touch)
       VALUES (:id, :appliance, :fromMs, :untilMs, :kept)`,
      { id, appliance: touch.appliance, fromMs, untilMs: untilMs ?? null, kept: JSON.stringify(touch) },
    );
  }

  /** Prepares its statement once: a large fleet has ten thousand readings. */
  #seen(readings: readonly SeenReading[]): void {
    const update = this.#database.prepare(`UPDATE readings SET seen = max(seen, :askedMs) WHERE ${ofPlace}`);
    for (const reading of readings) update.run({ ...reading });
  }

  #compare({ scope, askedMs, atMs, seenMs, objects, ...place }: ConfiguredReading): readonly HistoryEvent[] {
    const [before] = this.#rows<{ readonly scope: string; readonly seen: number; readonly objects: Uint8Array }>(
      `SELECT scope, seen, objects FROM readings WHERE ${ofPlace}`,
      place,
    );
    const known = before?.scope === scope ? toObjects(before.objects) : undefined;
    const kept = packed(known ? withFormerSettings(known, objects) : objects);
    this.#run(
      `INSERT OR REPLACE INTO readings (appliance, collector, farm, scope, seen, objects)
       VALUES (:appliance, :collector, :farm, :scope, :askedMs, :kept)`,
      { ...place, scope, askedMs, kept },
    );
    if (!known || !before) return [];
    const { appliance } = place;
    const differences = compareConfigured(known, objects);
    for (const { object, farm, setting, before: from = '', after } of differences) {
      if (object !== 'farm') continue;
      if (setting === 'name' && after !== undefined) this.#renameFarm(appliance, from, after);
      if (after === undefined)
        this.#run('DELETE FROM readings WHERE appliance = :appliance AND farm = :farm', { appliance, farm });
    }
    // A clock that was set back has seen the future.
    const seen = [before.seen, seenMs].filter((ms): ms is number => ms !== undefined && ms <= atMs);
    const between = { sinceMs: seen.length > 0 ? Math.max(...seen) : askedMs, atMs };
    return this.#authored(appliance, differences, between).map((event) => this.#addOne(event));
  }

  /** Returns one event for each author of the differences. */
  #authored(
    appliance: string,
    differences: readonly FoundDifference[],
    { sinceMs, atMs }: { readonly sinceMs: number; readonly atMs: number },
  ): readonly NewEvent[] {
    if (differences.length === 0) return [];
    const touches = this.#rows<{ readonly touch: string }>(
      `SELECT touch FROM touches WHERE appliance = :appliance AND since <= :atMs AND ifnull(until, :atMs) >= :sinceMs
       ORDER BY since DESC`,
      { appliance, sinceMs, atMs },
    ).map(({ touch }) => JSON.parse(touch) as Touch);
    const authorOf = (difference: FoundDifference): string =>
      touches.find((touch) => explains(touch, difference))?.by ?? elsewhere;
    return [...Map.groupBy(differences, authorOf)].flatMap(([by, found]) => {
      const own = found
        .map(({ id: _number, ...difference }) => difference)
        .filter((difference) => !this.#isTold(appliance, difference, sinceMs));
      return own.length === 0
        ? []
        : { kind: 'configuration', appliance, farm: commonFarm(own), atMs, sinceMs, by, differences: own };
    });
  }

  /** Returns true for a check that another farm of the same round has told of. */
  #isTold(appliance: string, difference: Difference, sinceMs: number): boolean {
    if (difference.object !== 'check') return false;
    return this.#recent(appliance, sinceMs).some(({ differences }) =>
      differences.some((told) => isSame([told], [difference])),
    );
  }

  #renameFarm(appliance: string, from: string, to: string): void {
    for (const { collector, objects } of this.#rows<{ readonly collector: string; readonly objects: Uint8Array }>(
      'SELECT collector, objects FROM readings WHERE appliance = :appliance AND farm = :from',
      { appliance, from },
    )) {
      const renamed = toObjects(objects).map((object) => ({
        ...object,
        ...(object.farm === from && { farm: to }),
        ...(object.object === 'farm' && { name: to }),
      }));
      this.#run(
        `UPDATE OR REPLACE readings SET farm = :to, objects = :kept
         WHERE appliance = :appliance AND collector = :collector AND farm = :from`,
        { appliance, collector, from, to, kept: packed(renamed) },
      );
    }
  }

  /** Adds an event, or counts it with an earlier one that it repeats or continues. */
  #addOne(event: NewEvent): HistoryEvent {
    return this.#repeat(event) ?? this.#burst(event) ?? this.#insert(event, 1);
  }

  #insert(event: NewEvent, count: number): HistoryEvent {
    const { appliance, atMs, differences } = event;
    const [{ id } = { id: 0 }] = this.#rows<{ readonly id: number }>(
      'INSERT INTO events (appliance, at, subject, event) VALUES (:appliance, :atMs, :subject, :kept) RETURNING id',
      {
        appliance,
        atMs,
        subject: subjectOf(event),
        kept: JSON.stringify({ ...event, count, differences: differences.slice(0, maxListed) }),
      },
    );
    return { ...event, id, count };
  }

  /**
   * Counts what alternates between two answers: from the third time on, one event stands for all.
   */
  #repeat(event: NewEvent): HistoryEvent | undefined {
    const { appliance, atMs, by, differences } = event;
    if (differences.length === 0) return undefined;
    const [last, former] = this.#events(
      'appliance = :appliance AND subject = :subject AND at > :sinceMs ORDER BY id DESC LIMIT 2',
      { appliance, subject: subjectOf(event), sinceMs: atMs - repeatMs },
    );
    if (!last || last.by !== by || !isSame(reversed(last.differences), differences)) return undefined;
    if (last.count > 1) return this.#replace([last], event, last.count + 1);
    if (!former || former.by !== by || !isSame(former.differences, differences)) return undefined;
    return this.#replace([last, former], event, 3);
  }

  /** Makes one event of very many differences of one author, as of a restored backup. */
  #burst(event: NewEvent): HistoryEvent | undefined {
    const { kind, appliance, atMs, by } = event;
    if (kind !== 'configuration') return undefined;
    const recent = this.#recent(appliance, atMs - burstMs).filter((each) => each.by === by);
    const differences = [...recent.flatMap((each) => each.differences), ...event.differences];
    const isLarge = differences.length > burstDifferences;
    if (!isLarge || (recent.length < burstEvents && !recent.some(isBurst))) return undefined;
    const whole = this.#replace(recent, { ...event, farm: commonFarm(differences), differences }, 1);
    return { ...whole, differences: event.differences };
  }

  /** Puts one event in the place of earlier ones; it began when the first of them did. */
  #replace(old: readonly HistoryEvent[], event: NewEvent, count: number): HistoryEvent {
    for (const { id } of old) this.#run('DELETE FROM events WHERE id = :id', { id });
    const sinceMs = Math.min(...[...old, event].map((each) => each.sinceMs ?? each.atMs));
    return this.#insert({ ...event, sinceMs }, count);
  }

  /** Returns the events of the configuration of an appliance after a moment, the oldest first. */
  #recent(appliance: string, sinceMs: number): readonly HistoryEvent[] {
    return this.#events(
      `appliance = :appliance AND at > :sinceMs AND event ->> '$.kind' = 'configuration' ORDER BY id`,
      { appliance, sinceMs },
    );
  }

  #events(where: string, values: Values): readonly HistoryEvent[] {
    const rows = this.#rows<{ readonly id: number; readonly event: string }>(
      `SELECT id, event FROM events WHERE ${where}`,
      values,
    );
    // Only events of this class are in the file.
    return rows.map(({ id, event }) => ({ ...(JSON.parse(event) as Omit<HistoryEvent, 'id'>), id }));
  }

  #run(sql: string, values: Values): void {
    this.#database.prepare(sql).run(values);
  }

  /** Each statement names the columns that its caller reads. */
  #rows<Row>(sql: string, values: Values = {}): readonly Row[] {
    return this.#database.prepare(sql).all(values) as unknown as readonly Row[];
  }

  #inOne<Result>(work: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

const ofPlace = 'appliance = :appliance AND collector = :collector AND farm = :farm';

/** Objects are much alike, and take a fifth of their text. */
function packed(objects: readonly ConfiguredObject[]): Uint8Array {
  return deflateRawSync(JSON.stringify(objects));
}

function toObjects(bytes: Uint8Array): readonly ConfiguredObject[] {
  return JSON.parse(inflateRawSync(bytes).toString()) as readonly ConfiguredObject[];
}

/** Returns the farm that all differences are about; empty if there is none. */
function commonFarm(differences: readonly Difference[]): string {
  const [farm = '', ...others] = new Set(differences.map((difference) => difference.farm));
  return others.length === 0 ? farm : '';
}

/** Names what an event is about, whatever it became. */
function subjectOf({ kind, differences }: NewEvent): string {
  return [kind, ...differences.flatMap((each) => [objectKey(each), each.setting])].join('\n');
}

function isBurst({ farm, differences }: HistoryEvent): boolean {
  return farm === '' && differences.length > burstDifferences;
}

function isSame(one: readonly Difference[], other: readonly Difference[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

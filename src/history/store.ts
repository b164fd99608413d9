import { DatabaseSync } from 'node:sqlite';
import type { ConfiguredObject } from '../collectors/configured.ts';
import { explains, type Touch } from './authors.ts';
import { compareConfigured, type FoundDifference, reversed, withFormerSettings } from './differences.ts';
import {
  type Difference,
  elsewhere,
  type EventKind,
  type EventQuery,
  type HistoryEvent,
  type NewEvent,
} from './event.ts';

/** The configured objects of a reading. */
export interface ConfiguredReading {
  readonly appliance: string;
  readonly collector: string;
  /** Empty for a reading of the whole appliance. */
  readonly farm: string;
  /** The address of the appliance and its choice of farms; others are not compared with it. */
  readonly scope: string;
  /** When it was asked for, and when it came. */
  readonly askedMs: number;
  readonly atMs: number;
  /** When the last one was asked for that said the same, if this process saw it. */
  readonly seenMs?: number | undefined;
  readonly objects: readonly ConfiguredObject[];
}

/** Names a reading among those of an appliance. */
export type ReadingPlace = Pick<ConfiguredReading, 'appliance' | 'collector' | 'farm'>;

/** A touch that is kept; it is under way without an end. */
export interface KeptTouch extends Touch {
  readonly id: string;
  readonly fromMs: number;
  readonly untilMs?: number;
}

/** A part of what is written. */
export type Entry =
  | { readonly reading: ConfiguredReading }
  /** Readings that said the same as before. */
  | { readonly seen: readonly (ReadingPlace & Pick<ConfiguredReading, 'askedMs'>)[] }
  /** A farm is gone, and its reading with it. */
  | { readonly gone: ReadingPlace }
  | { readonly touch: KeptTouch }
  | { readonly event: NewEvent };

/** The word ZLBH, by which the file is known. */
const applicationId = 0x5a_4c_42_48;
const formatVersion = 1;
/** The most events that are kept. */
const maxEvents = 100_000;
/** Events that repeat within this time are counted as one. */
const repeatMs = 3_600_000;
/** So many differences of one author within the time of `burstMs` become one event. */
const burstDifferences = 50;
const burstMs = 900_000;
/** Differences of one event that are listed. */
const maxListed = 1_000;

const tables = `
  CREATE TABLE readings (
    appliance TEXT, collector TEXT, farm TEXT, scope TEXT NOT NULL, seen INTEGER NOT NULL, objects TEXT NOT NULL,
    PRIMARY KEY (appliance, collector, farm)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, appliance TEXT NOT NULL, farm TEXT NOT NULL,
    at INTEGER NOT NULL, since INTEGER, author TEXT, text TEXT, count INTEGER NOT NULL,
    subject TEXT NOT NULL, differences TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_subject ON events (appliance, subject, at);
  CREATE INDEX events_at ON events (at);
  CREATE TABLE touches (
    id TEXT PRIMARY KEY, appliance TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER, touch TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
`;

interface EventRow {
  readonly id: number;
  readonly kind: EventKind;
  readonly appliance: string;
  readonly farm: string;
  readonly at: number;
  readonly since: number | null;
  readonly author: string | null;
  readonly text: string | null;
  readonly count: number;
  readonly subject: string;
  readonly differences: string;
}

/** The history in a file of SQLite, or in memory. */
export class HistoryStore {
  readonly #database: DatabaseSync;

  /** Throws the error of SQLite, and for a file that is no history. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 0 });
    try {
      // No other process writes it; a lost second after a power failure is no loss.
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
      const number = (name: string): unknown => this.#row(`PRAGMA ${name}`)?.[name];
      const isEmpty = this.#row('SELECT count(*) AS tables FROM sqlite_schema')?.tables === 0;
      if (isEmpty) this.#inOne(() => this.#database.exec(tables));
      if (number('application_id') !== applicationId || number('user_version') !== formatVersion)
        throw new Error(`${file} is another file than a history of this version; name another one as history.file`);
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
    const rows = this.#rows<EventRow>(
      `SELECT * FROM events
       WHERE at >= ? AND (? IS NULL OR appliance IN (?, ''))
         AND (? IS NULL OR farm = ? OR (appliance = '' AND kind <> 'change') OR EXISTS (
           SELECT 1 FROM json_each(differences) WHERE value ->> '$.farm' = ?))
         AND (? IS NULL OR kind IN (SELECT value FROM json_each(?)))
       ORDER BY at DESC, id DESC LIMIT ?`,
      [
        sinceMs,
        appliance ?? null,
        appliance ?? null,
        farm ?? null,
        farm ?? null,
        farm ?? null,
        kinds ? '' : null,
        JSON.stringify(kinds ?? []),
        limit,
      ],
    );
    return rows.map(toEvent);
  }

  /** Returns when the configuration of each farm was last seen to change. */
  changedFarms(): readonly { readonly appliance: string; readonly farm: string; readonly atMs: number }[] {
    return this.#rows(
      `SELECT appliance, value ->> '$.farm' AS farm, max(at) AS atMs FROM events, json_each(differences)
       WHERE kind = 'configuration' AND EXISTS (
         SELECT 1 FROM readings WHERE readings.appliance = events.appliance AND readings.farm = value ->> '$.farm')
       GROUP BY 1, 2`,
    );
  }

  /** Returns all objects of an appliance as it was last read. */
  objectsOf(appliance: string): readonly ConfiguredObject[] {
    return this.#rows<{ readonly objects: string }>('SELECT objects FROM readings WHERE appliance = ?', [
      appliance,
    ]).flatMap(({ objects }) => toObjects(objects));
  }

  /** Forgets what is older, and all above the limit. */
  prune(beforeMs: number): void {
    this.#inOne(() => {
      this.#run('DELETE FROM events WHERE at < ? OR id <= (SELECT max(id) FROM events) - ?', [beforeMs, maxEvents]);
      this.#run('DELETE FROM touches WHERE until < ? OR (until IS NULL AND since < ?)', [beforeMs, beforeMs]);
      this.#run('DELETE FROM readings WHERE seen < ?', [beforeMs]);
    });
  }

  close(): void {
    this.#database.close();
  }

  #writeOne(entry: Entry): readonly HistoryEvent[] {
    if ('reading' in entry) return this.#compare(entry.reading);
    if ('event' in entry) return [this.#addOne(entry.event)];
    if ('touch' in entry) this.#touch(entry.touch);
    else if ('gone' in entry) this.#forget(entry.gone);
    else for (const reading of entry.seen) this.#seen(reading);
    return [];
  }

  #touch({ id, fromMs, untilMs, ...touch }: KeptTouch): void {
    this.#run('INSERT OR REPLACE INTO touches (id, appliance, since, until, touch) VALUES (?, ?, ?, ?, ?)', [
      id,
      touch.appliance,
      fromMs,
      untilMs ?? null,
      JSON.stringify(touch),
    ]);
  }

  #forget({ appliance, collector, farm }: ReadingPlace): void {
    this.#run('DELETE FROM readings WHERE appliance = ? AND collector = ? AND farm = ?', [appliance, collector, farm]);
  }

  #seen({ appliance, collector, farm, askedMs }: ReadingPlace & Pick<ConfiguredReading, 'askedMs'>): void {
    this.#run('UPDATE readings SET seen = max(seen, ?) WHERE appliance = ? AND collector = ? AND farm = ?', [
      askedMs,
      appliance,
      collector,
      farm,
    ]);
  }

  #compare(reading: ConfiguredReading): readonly HistoryEvent[] {
    const { appliance, collector, farm, scope, askedMs, atMs, objects } = reading;
    const before = this.#row<{ readonly scope: string; readonly seen: number; readonly objects: string }>(
      'SELECT scope, seen, objects FROM readings WHERE appliance = ? AND collector = ? AND farm = ?',
      [appliance, collector, farm],
    );
    const known = before?.scope === scope ? toObjects(before.objects) : undefined;
    const kept = known ? withFormerSettings(known, objects) : objects;
    this.#run(
      'INSERT OR REPLACE INTO readings (appliance, collector, farm, scope, seen, objects) VALUES (?, ?, ?, ?, ?, ?)',
      [appliance, collector, farm, scope, askedMs, JSON.stringify(kept)],
    );
    if (!known || !before) return [];
    const differences = compareConfigured(known, objects);
    const sinceMs = Math.max(before.seen, reading.seenMs ?? 0);
    for (const { object, farm: of, setting, before: from = '', after } of differences) {
      if (object === 'farm' && setting === 'name') this.#renameFarm(appliance, from, after ?? '');
      // It may have gone while the exporter was away.
      if (object === 'farm' && after === undefined)
        this.#run('DELETE FROM readings WHERE appliance = ? AND farm = ?', [appliance, of]);
    }
    return this.#authored(appliance, differences, { sinceMs, atMs }).map((event) => this.#addOne(event));
  }

  /** Returns one event for each author of the differences. */
  #authored(
    appliance: string,
    differences: readonly FoundDifference[],
    { sinceMs, atMs }: { readonly sinceMs: number; readonly atMs: number },
  ): readonly NewEvent[] {
    if (differences.length === 0) return [];
    const touches = this.#rows<{ readonly touch: string }>(
      'SELECT touch FROM touches WHERE appliance = ? AND since <= ? AND (until IS NULL OR until >= ?) ORDER BY since DESC',
      [appliance, atMs, sinceMs],
    ).map(({ touch }) => JSON.parse(touch) as Touch);
    const authorOf = (difference: FoundDifference): string =>
      touches.find((touch) => explains(touch, difference))?.by ?? elsewhere;
    const isNew = differences.filter((difference) => !this.#isTold(appliance, difference, sinceMs));
    return [...Map.groupBy(isNew, authorOf)].map(([by, own]) => ({
      kind: 'configuration',
      appliance,
      farm: commonFarm(own),
      atMs,
      sinceMs,
      by,
      differences: own.map(({ id: _number, ...difference }) => difference),
    }));
  }

  /** Returns true for a check that another farm of the same round has told of. */
  #isTold(appliance: string, { object, name, setting, before, after }: FoundDifference, sinceMs: number): boolean {
    if (object !== 'check') return false;
    const told = this.#row(
      `SELECT 1 FROM events, json_each(differences) WHERE appliance = ? AND kind = 'configuration' AND at >= ?
         AND value ->> '$.object' = 'check' AND value ->> '$.name' = ? AND value ->> '$.setting' = ?
         AND value ->> '$.before' IS ? AND value ->> '$.after' IS ?`,
      [appliance, sinceMs, name, setting, before ?? null, after ?? null],
    );
    return told !== undefined;
  }

  #renameFarm(appliance: string, from: string, to: string): void {
    for (const row of this.#rows<{ readonly collector: string; readonly objects: string }>(
      'SELECT collector, objects FROM readings WHERE appliance = ? AND farm = ?',
      [appliance, from],
    )) {
      const objects = toObjects(row.objects).map((object) => ({
        ...object,
        ...(object.farm === from && { farm: to }),
        ...(object.object === 'farm' && { name: to }),
      }));
      this.#run(
        'UPDATE OR REPLACE readings SET farm = ?, objects = ? WHERE appliance = ? AND collector = ? AND farm = ?',
        [to, JSON.stringify(objects), appliance, row.collector, from],
      );
    }
  }

  /** Adds an event, or counts it with an earlier one that it repeats or continues. */
  #addOne(event: NewEvent): HistoryEvent {
    return this.#repeat(event) ?? this.#burst(event) ?? this.#insert(event, 1);
  }

  #insert(event: NewEvent, count: number): HistoryEvent {
    const { kind, appliance, farm, atMs, sinceMs, by, text, differences } = event;
    const { id } = this.#row<{ readonly id: number }>(
      `INSERT INTO events (kind, appliance, farm, at, since, author, text, count, subject, differences)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      [
        kind,
        appliance,
        farm,
        atMs,
        sinceMs ?? null,
        by ?? null,
        text ?? null,
        count,
        subjectOf(event),
        JSON.stringify(differences.slice(0, maxListed)),
      ],
    ) ?? { id: 0 };
    return { ...event, id, count };
  }

  /**
   * Counts what alternates between two answers: from the third time on, one event stands for all.
   */
  #repeat(event: NewEvent): HistoryEvent | undefined {
    const { appliance, atMs, by, differences } = event;
    if (differences.length === 0) return undefined;
    const [last, former] = this.#rows<EventRow>(
      'SELECT * FROM events WHERE appliance = ? AND subject = ? AND author IS ? AND at > ? ORDER BY id DESC LIMIT 2',
      [appliance, subjectOf(event), by ?? null, atMs - repeatMs],
    ).map(toEvent);
    if (!last || !isSameChange(reversed(last.differences), differences)) return undefined;
    const isThird = former !== undefined && isSameChange(former.differences, differences);
    if (last.count === 1 && !isThird) return undefined;
    const first = last.count === 1 ? former : last;
    this.#run('DELETE FROM events WHERE id IN (?, ?)', [last.id, first?.id ?? last.id]);
    return this.#insert({ ...event, sinceMs: first?.sinceMs ?? first?.atMs }, last.count + (last.count === 1 ? 2 : 1));
  }

  /** Makes one event of very many differences of one author, as of a restored backup. */
  #burst(event: NewEvent): HistoryEvent | undefined {
    const { kind, appliance, atMs, by } = event;
    if (kind !== 'configuration') return undefined;
    const recent = this.#rows<EventRow>(
      `SELECT * FROM events WHERE appliance = ? AND kind = 'configuration' AND author IS ? AND at > ? ORDER BY id`,
      [appliance, by ?? null, atMs - burstMs],
    ).map(toEvent);
    const differences = [...recent.flatMap((each) => each.differences), ...event.differences];
    if (recent.length === 0 || differences.length <= burstDifferences) return undefined;
    for (const { id } of recent) this.#run('DELETE FROM events WHERE id = ?', [id]);
    const sinceMs = Math.min(...[...recent, event].map((each) => each.sinceMs ?? each.atMs));
    const whole = this.#insert({ ...event, farm: commonFarm(differences), sinceMs, differences }, 1);
    return { ...whole, differences: event.differences };
  }

  #run(sql: string, values: readonly (string | number | null)[] = []): void {
    this.#database.prepare(sql).run(...values);
  }

  #row<Row = Readonly<Record<string, unknown>>>(
    sql: string,
    values: readonly (string | number | null)[] = [],
  ): Row | undefined {
    // Each statement names the columns that its caller reads.
    return this.#database.prepare(sql).get(...values) as Row | undefined;
  }

  #rows<Row>(sql: string, values: readonly (string | number | null)[] = []): readonly Row[] {
    return this.#database.prepare(sql).all(...values) as unknown as readonly Row[];
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

function toObjects(text: string): readonly ConfiguredObject[] {
  return JSON.parse(text) as readonly ConfiguredObject[];
}

function toEvent(row: EventRow): HistoryEvent {
  const { id, kind, appliance, farm, at: atMs, since, author, text, count } = row;
  const differences = JSON.parse(row.differences) as readonly Difference[];
  return {
    id,
    kind,
    appliance,
    farm,
    atMs,
    count,
    differences,
    ...(since !== null && { sinceMs: since }),
    ...(author !== null && { by: author }),
    ...(text !== null && { text }),
  };
}

/** Returns the farm that all differences are about; empty if there is none. */
function commonFarm(differences: readonly Difference[]): string {
  const [farm = '', ...others] = new Set(differences.map((difference) => difference.farm));
  return others.length === 0 ? farm : '';
}

/** Names what an event is about, whatever it became. */
function subjectOf({ kind, differences }: NewEvent): string {
  return [
    kind,
    ...differences.map(({ object, farm, service, name, setting }) => [object, farm, service, name, setting].join(' ')),
  ].join('\n');
}

function isSameChange(one: readonly Difference[], other: readonly Difference[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ before, after }, index) => before === other[index]?.before && after === other[index]?.after)
  );
}

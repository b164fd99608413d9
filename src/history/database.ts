import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { DatabaseFormat } from '../lib/sqlite-file.ts';

/** SQLite's name for a database in memory. */
export const inMemory = ':memory:';
/** `ZLBH`, which marks the file as a history. */
export const historyFormat: DatabaseFormat = { applicationId: 0x5a_4c_42_48, version: 3 };

/** `calls` are those of the gateway; `farm_times` has how long each farm was up, by hours and days. */
const tables = `
  CREATE TABLE readings (
    appliance TEXT, collector TEXT, farm TEXT, scope TEXT NOT NULL, seenMs INTEGER NOT NULL, changedMs INTEGER,
    objects BLOB NOT NULL, PRIMARY KEY (appliance, collector, farm)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, appliance TEXT NOT NULL, farm TEXT NOT NULL, kind TEXT NOT NULL,
    atMs INTEGER NOT NULL, bytes INTEGER NOT NULL, subject TEXT NOT NULL, digest TEXT NOT NULL, event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_subject ON events (appliance, subject, atMs);
  CREATE INDEX events_time ON events (atMs);
  CREATE INDEX events_appliance ON events (appliance, atMs);
  CREATE TABLE calls (
    id TEXT PRIMARY KEY, appliance TEXT NOT NULL, fromMs INTEGER NOT NULL, untilMs INTEGER, call TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX calls_appliance ON calls (appliance, fromMs);
  CREATE TABLE farm_times (
    appliance TEXT, farm TEXT, spanMs INTEGER, fromMs INTEGER, up INTEGER NOT NULL, down INTEGER NOT NULL,
    maintenance INTEGER NOT NULL, PRIMARY KEY (appliance, farm, spanMs, fromMs)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${historyFormat.applicationId};
  PRAGMA user_version = ${historyFormat.version};
`;

/** The rows and bytes of each appliance; not in the file, where damage could make them wrong. */
const usage = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE usage (
    appliance TEXT PRIMARY KEY, events INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
    readings INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  INSERT INTO usage (appliance, events, bytes) SELECT appliance, count(*), sum(bytes) FROM events GROUP BY 1;
  INSERT INTO usage (appliance, readings) SELECT appliance, sum(length(objects)) FROM readings WHERE true GROUP BY 1
    ON CONFLICT DO UPDATE SET readings = excluded.readings;
  CREATE TEMP TRIGGER event_added AFTER INSERT ON main.events BEGIN
    INSERT INTO usage (appliance, events, bytes) VALUES (new.appliance, 1, new.bytes)
      ON CONFLICT DO UPDATE SET events = events + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TEMP TRIGGER event_removed AFTER DELETE ON main.events BEGIN
    UPDATE usage SET events = events - 1, bytes = bytes - old.bytes WHERE appliance = old.appliance;
  END;
  CREATE TEMP TRIGGER reading_added AFTER INSERT ON main.readings BEGIN
    INSERT INTO usage (appliance, readings) VALUES (new.appliance, length(new.objects))
      ON CONFLICT DO UPDATE SET readings = readings + excluded.readings;
  END;
  CREATE TEMP TRIGGER reading_changed AFTER UPDATE OF objects ON main.readings BEGIN
    UPDATE usage SET readings = readings + length(new.objects) - length(old.objects) WHERE appliance = new.appliance;
  END;
  CREATE TEMP TRIGGER reading_removed AFTER DELETE ON main.readings BEGIN
    UPDATE usage SET readings = readings - length(old.objects) WHERE appliance = old.appliance;
  END;
`;

type Values = Readonly<Record<string, string | number | null | Uint8Array>>;

/** Opens the tables of the history, in a file of SQLite or in memory. */
export class HistoryDatabase {
  readonly #database: DatabaseSync;
  /** Prepared statements by their text: preparing one costs as much as running it. */
  readonly #prepared = new Map<string, StatementSync>();

  /** Throws the error of SQLite, and for a file that is not a history. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 0 });
    try {
      // No other process uses it; after a power failure, the last second may be missing.
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
      const number = (name: string): unknown => this.rows<Record<string, unknown>>(`PRAGMA ${name}`)[0]?.[name];
      const isEmpty = this.rows('SELECT 1 FROM sqlite_schema').length === 0;
      if (isEmpty) this.inTransaction(() => this.#database.exec(tables));
      if (number('application_id') !== historyFormat.applicationId || number('user_version') !== historyFormat.version)
        throw new Error(`${file} is not a history of this version; name another file as history.file`);
      this.#database.exec(usage);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  run(sql: string, values: Values): void {
    this.#prepare(sql).run(values);
  }

  /** Each statement names the columns that its caller reads. */
  rows<Row>(sql: string, values: Values = {}): readonly Row[] {
    return this.#prepare(sql).all(values) as unknown as readonly Row[];
  }

  /** Yields rows one by one, for a caller that may stop early. */
  iterate<Row>(sql: string, values: Values): IterableIterator<Row> {
    return this.#database.prepare(sql).iterate(values) as unknown as IterableIterator<Row>;
  }

  /** Runs the work in a transaction, which is rolled back if it throws. */
  inTransaction<Value>(work: () => Value): Value {
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

  close(): void {
    this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

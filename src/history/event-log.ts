import type { HistoryDatabase } from './database.ts';
import { type EventQuery, type FoundEvents, type HistoryEvent, maxFoundBytes, maxReadBytes } from './event.ts';
import { type StoredEvent, readEvent, toStoredEvent } from './stored-event.ts';

/** Three alternating events within this time become one event. */
const alternatingMs = 600_000;
/** Above this number of differences, several events of one author within `burstMs` become one event. */
const burstDifferences = 50;
const burstEvents = 5;
const burstMs = 900_000;
/** The bytes of a row besides the text of its event. */
const rowBytes = 256;
const latest = Number.MAX_SAFE_INTEGER;

interface EventRow {
  readonly id: number;
  readonly atMs: number;
  readonly bytes: number;
  readonly digest: string;
  readonly event: string;
}

/** An event with the digest of its differences. */
interface ReadEvent extends HistoryEvent {
  readonly digest: string;
}

export class EventLog {
  readonly #database: HistoryDatabase;
  readonly #onDamaged: (row: string) => void;

  /** `onDamaged` is called for each row that cannot be read. */
  constructor(database: HistoryDatabase, onDamaged: (row: string) => void) {
    this.#database = database;
    this.#onDamaged = onDamaged;
  }

  /** Adds an event, or merges it with earlier ones that it repeats or continues. */
  add(stored: StoredEvent): void {
    if (!this.#mergeAlternating(stored) && !this.#mergeBurst(stored)) this.#insert(stored);
  }

  /** Returns the newest first. If a search reads too much without a match, it has only `next`. */
  find(query: EventQuery): FoundEvents {
    const { appliance, farm, sinceMs = Number.MIN_SAFE_INTEGER, kinds, before, limit } = query;
    const [untilMs = latest, untilId = latest] = before?.split('.').map(Number) ?? [];
    const rows = this.#database.iterate<EventRow>(
      `SELECT id, atMs, bytes, digest, event FROM events
       WHERE atMs BETWEEN :sinceMs AND :untilMs AND (atMs < :untilMs OR id < :untilId)
       AND (:appliance IS NULL OR appliance IN (:appliance, '')) AND (:farm IS NULL OR farm IN (:farm, ''))
       AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
       ORDER BY atMs DESC, id DESC`,
      {
        sinceMs,
        untilMs,
        untilId,
        appliance: appliance ?? null,
        farm: farm ?? null,
        kinds: kinds ? JSON.stringify(kinds) : null,
      },
    );
    const certificates = query.certificates && new Set(query.certificates);
    const events: HistoryEvent[] = [];
    let bytes = 0;
    let read = 0;
    let lastRead: EventRow | undefined;
    for (const row of rows) {
      read += row.bytes;
      if (read > maxReadBytes && lastRead) return { events, next: `${lastRead.atMs}.${lastRead.id}` };
      lastRead = row;
      const event = this.#read(row);
      if (!event || !isWanted(event, farm, certificates)) continue;
      bytes += row.bytes;
      const last = events.at(-1);
      if (last && (events.length === limit || bytes > maxFoundBytes))
        return { events, next: `${last.atMs}.${last.id}` };
      const { digest: _digest, ...found } = event;
      events.push(found);
    }
    return { events };
  }

  /** Returns the configuration events of an appliance after a moment, the oldest first. */
  recent(appliance: string, sinceMs: number): readonly HistoryEvent[] {
    return this.#rows("appliance = :appliance AND atMs > :sinceMs AND kind = 'configuration' ORDER BY id", {
      appliance,
      sinceMs,
    });
  }

  #insert({ event, subject, digest }: StoredEvent): void {
    const text = JSON.stringify(event);
    const { appliance, farm, kind, atMs } = event;
    this.#database.run(
      `INSERT INTO events (appliance, farm, kind, atMs, bytes, subject, digest, event)
       VALUES (:appliance, :farm, :kind, :atMs, :bytes, :subject, :digest, :text)`,
      { appliance, farm, kind, atMs, bytes: rowBytes + Buffer.byteLength(text), subject, digest, text },
    );
  }

  /**
   * Merges an event with earlier ones if they alternate quickly, from the third one on. The merged
   * event has the last moment of each direction.
   */
  #mergeAlternating(stored: StoredEvent): boolean {
    const { event, subject, digest, reverseDigest } = stored;
    const { appliance, atMs, by, differences } = event;
    if (differences.length === 0) return false;
    const [last, former] = this.#rows(
      'appliance = :appliance AND subject = :subject AND atMs BETWEEN :sinceMs AND :atMs ORDER BY atMs DESC, id DESC LIMIT 2',
      { appliance, subject, sinceMs: atMs - alternatingMs, atMs },
    );
    if (!last || last.by !== by || last.digest !== reverseDigest) return false;
    const isSame = former?.by === by && former?.digest === digest;
    // The time of the last event in the same direction.
    const earlierMs = last.reversedMs ?? (isSame ? former.atMs : undefined);
    if (earlierMs === undefined || earlierMs < atMs - alternatingMs) return false;
    const old = last.reversedMs === undefined && former ? [last, former] : [last];
    const count = old.reduce((sum, each) => sum + each.count, 1);
    this.#replace(old, { ...stored, event: { ...event, count, reversedMs: last.atMs } });
    return true;
  }

  /** Merges an event with earlier ones of its author if there are very many, as after a restored backup. */
  #mergeBurst({ event }: StoredEvent): boolean {
    const { kind, appliance, atMs, by } = event;
    if (kind !== 'configuration') return false;
    const recent = this.recent(appliance, atMs - burstMs).filter((each) => each.by === by);
    const differences = [...recent.flatMap((each) => each.differences), ...event.differences];
    const others = [...recent, event].reduce((sum, { unlisted = 0 }) => sum + unlisted, 0);
    const isLarge = differences.length + others > burstDifferences;
    if (!isLarge || (recent.length < burstEvents && !recent.some(isBurst))) return false;
    const farms = new Set([...recent, event].map(({ farm }) => farm));
    const [farm = ''] = farms.size === 1 ? farms : [];
    this.#replace(recent, toStoredEvent({ ...event, farm, differences }, others));
    return true;
  }

  /** Replaces earlier events by one that begins when the first of them did. */
  #replace(old: readonly HistoryEvent[], stored: StoredEvent): void {
    for (const { id } of old) this.#database.run('DELETE FROM events WHERE id = :id', { id });
    const sinceMs = Math.min(...[...old, stored.event].map((each) => each.sinceMs ?? each.atMs));
    this.#insert({ ...stored, event: { ...stored.event, sinceMs } });
  }

  #rows(where: string, values: Readonly<Record<string, string | number>>): readonly ReadEvent[] {
    return this.#database
      .rows<EventRow>(`SELECT id, atMs, bytes, digest, event FROM events WHERE ${where}`, values)
      .flatMap((row) => this.#read(row) ?? []);
  }

  #read({ id, digest, event: text }: EventRow): ReadEvent | undefined {
    const event = readEvent(text);
    if (!event) this.#onDamaged(`event ${id}`);
    return event && { ...event, id, digest };
  }
}

/** Filters by what is not in the columns. */
function isWanted(
  event: HistoryEvent,
  farm: string | undefined,
  certificates: ReadonlySet<string> | undefined,
): boolean {
  if (farm === undefined || event.appliance === '' || event.farm === farm) return true;
  const { differences, unlisted = 0 } = event;
  if (differences.some((each) => each.farm === farm || (each.farm !== '' && unlisted > 0))) return true;
  if (!certificates) return false;
  return (
    event.kind === 'restart' ||
    differences.some(({ object, name }) =>
      object === 'certificate' ? certificates.has(name) : ['version', 'appliance'].includes(object),
    )
  );
}

function isBurst({ farm, differences, unlisted = 0 }: HistoryEvent): boolean {
  return farm === '' && differences.length + unlisted > burstDifferences;
}

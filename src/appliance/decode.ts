import { isDeepStrictEqual } from 'node:util';
import { type AnySchemaObject, Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { isRecord } from '../lib/check.ts';
import { truncate, digestForm, copyText } from '../lib/text.ts';
import type { ReplyFault } from './reply-bounds.ts';
import { partKeyword, rowsKeyword, type WireKind, wireKeyword, type WireRowsSchema } from './wire-types.ts';

/** A field of a reply with values that could not be read, or a list with such rows. */
export interface Unreadable {
  /** A word of the schema, never of the appliance. */
  readonly field: string;
  /** Values or rows. */
  readonly count: number;
  /** The first one as JSON, cut off. */
  readonly example: string;
}

export type OnUnreadable = (found: readonly Unreadable[]) => void;

type Decode = (schema: TSchema, body: unknown, onUnreadable?: OnUnreadable) => ReplyFault | undefined;

interface UnreadablePart extends Pick<Unreadable, 'field' | 'count'> {
  readonly value: unknown;
  /** The place and what is wrong. */
  readonly because: string;
  readonly isNumber?: boolean;
}

type ReportUnreadable = (part: UnreadablePart) => void;

function createDecoder(): Decode {
  // The schemas are typed: to check them at run time takes longer than to compile them. To optimise
  // what is compiled takes as long again, and makes it no faster.
  const ajv = new Ajv({
    strictSchema: false,
    validateFormats: false,
    validateSchema: false,
    code: { optimize: false },
  });
  const compiled = new WeakMap<TSchema, ValidateFunction>();
  const unreadableParts: UnreadablePart[] = [];
  const reportUnreadable: ReportUnreadable = (part) => unreadableParts.push(part);
  for (const keyword of [
    valueKeyword(reportUnreadable),
    partsKeyword(ajv, reportUnreadable),
    listKeyword(ajv, reportUnreadable),
  ])
    ajv.addKeyword({ modifying: true, errors: 'full', ...keyword });

  return (schema, body, onUnreadable) => {
    let validate = compiled.get(schema);
    if (!validate) {
      validate = ajv.compile(schema);
      compiled.set(schema, validate);
    }
    const fits = validate(body);
    // None is kept for the next reply: a value may have megabytes.
    const found = unreadableParts.splice(0);
    if (!fits) return malformed(sentenceOf(validate.errors?.[0]));
    const decisive = onUnreadable ? undefined : found.find(({ isNumber }) => !isNumber);
    if (decisive) return malformed(decisive.because);
    if (found.length > 0) onUnreadable?.(summarize(found));
    return undefined;
  };
}

/**
 * Checks a parsed reply against its schema and coerces the appliance's types in place. A value
 * that cannot be read becomes null, a row without its name is left out, and `onUnreadable` receives
 * both. Without it only numbers may be unreadable: what decides by a reply needs all of its rows and
 * words. The fault names the first wrong field; undefined if the reply fits. Compiles each schema
 * once, at its first use.
 */
export const decode: Decode = createDecoder();

function malformed(because: string): ReplyFault {
  return { reason: 'malformed', because };
}

function sentenceOf(error: ErrorObject | undefined): string {
  return `${error?.instancePath || 'the body'} ${error?.message ?? 'does not fit'}`;
}

const maxExample = 40;

function summarize(unreadableParts: readonly UnreadablePart[]): readonly Unreadable[] {
  return [...Map.groupBy(unreadableParts, ({ field }) => field)].map(([field, ofField]) => ({
    field,
    count: ofField.reduce((sum, { count }) => sum + count, 0),
    example: truncate(JSON.stringify(ofField[0]?.value) ?? 'nothing', maxExample),
  }));
}

/** A check of ours; Ajv clears its errors before each use. */
type DataValidateFunction = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;

/** The place of a value, as Ajv describes it. */
type ValuePlace = NonNullable<Parameters<ValidateFunction>[1]>;

/** Reads one value; refuses a name, without which its row means nothing. */
function valueKeyword(reportUnreadable: ReportUnreadable): FuncKeywordDefinition {
  return {
    keyword: wireKeyword,
    compile(kind: WireKind) {
      const isNumber = kind === 'number' || kind === 'signed';
      const message = expectation[kind];
      const read: DataValidateFunction = (value: unknown, place?: ValuePlace) => {
        const result = coerceWire(kind, value);
        if (!place || (result === undefined && kind === 'name')) {
          read.errors = [{ keyword: wireKeyword, message, params: {} }];
          return false;
        }
        const { parentData, parentDataProperty, instancePath } = place;
        if (result !== value) parentData[parentDataProperty] = result ?? null;
        if (result === undefined)
          reportUnreadable({
            field: String(parentDataProperty),
            count: 1,
            value,
            because: `${instancePath} ${message}`,
            isNumber,
          });
        return true;
      };
      return read;
    },
  };
}

/** Reads a part of an object that the rest can do without. */
function partsKeyword(ajv: Ajv, reportUnreadable: ReportUnreadable): FuncKeywordDefinition {
  return {
    keyword: partKeyword,
    compile(part: AnySchemaObject) {
      const validate = ajv.compile(part);
      return (value: unknown, place?: ValuePlace): boolean => {
        if (!place || value === null || validate(value, place)) return true;
        const { parentData, parentDataProperty } = place;
        parentData[parentDataProperty] = null;
        reportUnreadable({
          field: String(parentDataProperty),
          count: 1,
          value,
          because: sentenceOf(validate.errors?.[0]),
        });
        return true;
      };
    },
  };
}

function listKeyword(ajv: Ajv, reportUnreadable: ReportUnreadable): FuncKeywordDefinition {
  return {
    keyword: rowsKeyword,
    type: 'array',
    compile({ item, key, maxRows }: WireRowsSchema) {
      const validate = ajv.compile(item);
      return (rows: unknown[], place?: ValuePlace): boolean => {
        if (!place) return false;
        const path = place.instancePath;
        const list = String(place.parentDataProperty);
        if (rows.length > maxRows) {
          const because = `${path} has more than ${maxRows} rows; check what answers under the url of the appliance`;
          reportUnreadable({ field: list, count: rows.length - maxRows, value: rows[maxRows], because });
          rows.length = maxRows;
        }
        let kept = 0;
        for (const index of rows.keys()) {
          const at = { ...place, instancePath: `${path}/${index}`, parentData: rows, parentDataProperty: index };
          if (validate(rows[index], at)) {
            rows[kept] = rows[index];
            kept += 1;
          } else {
            const [error] = validate.errors ?? [];
            reportUnreadable({
              field: failedField(error) ?? list,
              count: 1,
              value: rows[index],
              because: sentenceOf(error),
            });
          }
        }
        rows.length = kept;
        if (key.length > 0) uniteRows(rows, { key, path, item }, reportUnreadable);
        return true;
      };
    },
  };
}

/** Returns the field of a row that is missing or refused; undefined if the row itself is not a row. */
function failedField(error: ErrorObject | undefined): string | undefined {
  return error?.params.missingProperty ?? /\/([A-Za-z]\w*)$/.exec(error?.instancePath ?? '')?.[1];
}

/**
 * Leaves one row for each key. Rows that differ contradict each other: what they differ in is not
 * known.
 */
function uniteRows(
  rows: unknown[],
  { key, path, item }: { readonly key: readonly string[]; readonly path: string; readonly item: TSchema },
  reportUnreadable: ReportUnreadable,
): void {
  const fields = 'properties' in item && isRecord(item.properties) ? Object.keys(item.properties) : [];
  const firsts = new Map<string, Record<string, unknown>>();
  for (const row of rows) {
    if (!isRecord(row)) continue;
    const id = key.map((field) => JSON.stringify(row[field] ?? null)).join();
    const first = firsts.get(id);
    if (!first) {
      firsts.set(id, row);
      continue;
    }
    for (const field of fields) {
      if (isDeepStrictEqual(first[field] ?? null, row[field] ?? null)) continue;
      first[field] = null;
      reportUnreadable({
        field,
        count: 1,
        value: row[field],
        because: `${path} has one ${key[0]} twice, with another ${field}`,
      });
    }
  }
  if (firsts.size < rows.length) rows.splice(0, rows.length, ...firsts.values());
}

const expectation: Readonly<Record<WireKind, string>> = {
  number: 'must be a number from 0, its digits, empty or null',
  signed: 'must be a number, its digits, empty or null',
  text: 'must be a text, a number, true, false or null',
  state: 'must be a text, a number, true, false or null',
  name: 'must be a text that is not empty',
};

/** A name is that of a file on the appliance, which is shorter. */
export const maxNameLength = 255;
/** The longest texts are lists of ports and of ciphers. */
export const maxTextLength = 4_096;

const decimal = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** No status word of an appliance is as long; a longer text would take seconds to rewrite. */
const maxStateLength = 64;

/** Returns a value of the kind, null if it is not set, or undefined if it cannot be read. */
function coerceWire(kind: WireKind, value: unknown): string | number | null | undefined {
  if (value === null) return kind === 'name' ? undefined : null;
  // `JSON.parse` turns 1e999 into Infinity.
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
  // JSON::PP of newer Perls writes as true or false what older ones write as a text.
  const isFlag = typeof value === 'boolean' && (kind === 'text' || kind === 'state');
  if (typeof value !== 'number' && typeof value !== 'string' && !isFlag) return undefined;
  const written = String(value);
  const text = trim(written);
  if (kind === 'name') return text === '' ? undefined : bound(written, maxNameLength);
  if (kind === 'text') return bound(text, maxTextLength);
  if (kind === 'state') return truncate(text, maxStateLength).toLowerCase().replaceAll(/\s+/g, ' ');
  if (text === '') return null;
  const number = typeof value === 'number' ? value : decimal.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) && (kind === 'signed' || number >= 0) ? number : undefined;
}

function trim(text: string): string {
  const part = text.trim();
  return part.length < text.length ? copyText(part) : text;
}

/** Bounds what is kept of a text; no appliance has an object of the name that a longer one gets. */
function bound(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : digestForm(text, text, maxLength);
}

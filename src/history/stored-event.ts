import { hash } from 'node:crypto';
import { isOneOf, isRecord, parseJson } from '../lib/check.ts';
import { digestForm, oneLine } from '../lib/text.ts';
import { objectKey, reverseDifferences } from './differences.ts';
import { type Difference, eventKinds, type HistoryEvent, type NewEvent } from './event.ts';

/** The most differences that an event lists, and the most bytes of their texts; at least one is listed. */
export const maxListed = 50;
export const maxListedBytes = 8_192;
/** The longest text of an event, or its author. */
const maxText = 500;
/** Longer names of objects are shortened. */
const maxName = 300;

/** An event as it is stored: a few KB, with digests of all its differences. */
export interface StoredEvent {
  readonly event: Omit<HistoryEvent, 'id'>;
  /** A digest of the objects and settings that changed, without their values. */
  readonly subject: string;
  /** A digest of the differences. */
  readonly digest: string;
  /** The `digest` of an event that reverses all differences. */
  readonly reverseDigest: string;
}

/** Converts an event for storage; `others` is the number of differences that it does not list already. */
export function toStoredEvent(event: NewEvent, others = 0): StoredEvent {
  const { kind, text, by, differences } = event;
  const listed = listedDifferences(differences);
  const unlisted = others + differences.length - listed.length;
  return {
    event: {
      ...event,
      ...(by !== undefined && { by: oneLine(by, maxText) }),
      ...(text !== undefined && { text: oneLine(text, maxText) }),
      count: 1,
      differences: listed,
      ...(unlisted > 0 && { unlisted }),
    },
    subject: digestOf([kind, ...differences.flatMap((each) => [objectKey(each), each.setting])]),
    digest: digestOf(differences),
    reverseDigest: digestOf(reverseDifferences(differences)),
  };
}

/** Parses a stored event; undefined if it is damaged. */
export function readEvent(text: string): Omit<HistoryEvent, 'id'> | undefined {
  const event = parseJson(text);
  if (!isRecord(event) || !isOneOf(eventKinds, event.kind) || !Array.isArray(event.differences)) return undefined;
  const isWhole =
    [event.appliance, event.farm].every(isText) &&
    [event.atMs, event.count].every(isNumber) &&
    [event.by, event.text].every((each) => each === undefined || isText(each)) &&
    [event.sinceMs, event.reversedMs, event.unlisted].every((each) => each === undefined || isNumber(each)) &&
    event.differences.every(isDifference);
  // Only this file writes them.
  return isWhole ? (event as unknown as Omit<HistoryEvent, 'id'>) : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function isDifference(value: unknown): boolean {
  return (
    isRecord(value) &&
    ['object', 'farm', 'service', 'name', 'setting'].every((name) => isText(value[name])) &&
    [value.before, value.after].every((each) => each === undefined || isText(each))
  );
}

/** Returns as many differences as may be listed, with short texts. */
function listedDifferences(differences: readonly Difference[]): readonly Difference[] {
  const first = differences.slice(0, maxListed).map(withShortTexts);
  let bytes = 0;
  const end = first.findIndex((each, index) => {
    bytes += Buffer.byteLength(JSON.stringify(each));
    return index > 0 && bytes > maxListedBytes;
  });
  return end === -1 ? first : first.slice(0, end);
}

function withShortTexts(difference: Difference): Difference {
  const { object, farm, service, name, setting, before, after } = difference;
  return {
    object,
    farm: shortName(farm),
    service: shortName(service),
    name: shortName(name),
    setting: shortName(setting),
    before: before === undefined ? undefined : shortName(before),
    after: after === undefined ? undefined : shortName(after),
  };
}

function shortName(text: string): string {
  return text.length <= maxName ? text : digestForm(text, text, maxName);
}

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);
}

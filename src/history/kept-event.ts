import { hash } from 'node:crypto';
import { isOneOf, isRecord, parseJson } from '../lib/check.ts';
import { digestForm, oneLine } from '../lib/text.ts';
import { objectKey, reversed } from './differences.ts';
import { type Difference, eventKinds, type HistoryEvent, type NewEvent } from './event.ts';

/** The most differences that an event lists, and the most bytes of their texts; it lists one at least. */
export const maxListed = 50;
export const maxListedBytes = 8_192;
/** The longest text of an event, or name of an author. */
const maxText = 500;
/** The longest name of an object that is listed; an appliance may have longer ones. */
const maxName = 300;

/** An event as it is kept: a few KB, with digests of what its whole list says. */
export interface KeptEvent {
  readonly event: Omit<HistoryEvent, 'id'>;
  /** Names what it is about, whatever that became. */
  readonly subject: string;
  /** Is the same for the same differences, and for no others. */
  readonly digest: string;
  /** The `digest` of an event that takes all of it back. */
  readonly reverseDigest: string;
}

/** Returns the form in which an event is kept; `others` are further differences that it does not list. */
export function toKept(event: NewEvent, others = 0): KeptEvent {
  const { kind, text, by, differences } = event;
  const listed = beginningOf(differences);
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
    reverseDigest: digestOf(reversed(differences)),
  };
}

/** Reads the text of an event; undefined for one that is damaged. */
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

/** Returns the first differences, as many as may be listed, with short texts. */
function beginningOf(differences: readonly Difference[]): readonly Difference[] {
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
    farm: short(farm),
    service: short(service),
    name: short(name),
    setting: short(setting),
    before: before === undefined ? undefined : short(before),
    after: after === undefined ? undefined : short(after),
  };
}

function short(text: string): string {
  return text.length <= maxName ? text : digestForm(text, text, maxName);
}

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22);
}

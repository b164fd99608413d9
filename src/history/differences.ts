import { type ConfiguredObject, type ConfiguredSettings, wordSettings } from '../collectors/configured.ts';
import { compareNames, digestForm, remembered } from '../lib/text.ts';
import type { Difference } from './event.ts';

/** Whole numbers, both ends included; an appliance may number backends as far apart as it likes. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

/** A difference, with what tells which call has made it. */
export interface FoundDifference extends Difference {
  /** The numbers by which calls may have named a backend since the reading before. */
  readonly ids?: readonly string[] | NumberRange;
  /** Another reading of what looks like a new name: one object that is gone, and a new one. */
  readonly parts?: readonly FoundDifference[];
}

/** The setting of a farm that says in which order its services are asked. */
export const serviceOrder = 'services';
/** The longest description of an object that is new or gone. */
const maxDescription = 200;
/**
 * With so many objects of its name an object is compared, from the first that is left. An appliance
 * may have thousands, which would be millions of comparisons.
 */
const maxOfOneName = 8;

/**
 * Compares all objects of two readings. An object of another name with the same settings, the only
 * one that is new beside the only one that is gone, was renamed. A setting that one of the readings
 * does not know is not a difference.
 */
export function compareConfigured(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly FoundDifference[] {
  const { former, rest } = match(before, after);
  const known = new Set(former.values());
  const gone = rest.filter(isListed);
  const numbersOf = numbersSince(gone);
  const changed = [...former].flatMap(([object, was]) =>
    settingsThatDiffer(was, object).map((each) => ({ ...each, ...numbersOf(was, object) })),
  );
  const added = after.filter((object) => !former.has(object) && isListed(object));
  const renamed = renamedOf(gone, added);
  const others = new Set(renamed.flatMap(({ object, next }) => [object, next]));
  const goneOf = (object: ConfiguredObject): FoundDifference => ({
    ...wholeObject(object, describe(object.settings), undefined),
    ...numbersOf(object, undefined),
  });
  const newOf = (object: ConfiguredObject): FoundDifference => ({
    ...wholeObject(object, undefined, describe(object.settings)),
    ...numbersOf(undefined, object),
  });
  return [
    ...changed,
    ...servicesInOtherOrder(
      before.filter((object) => known.has(object)),
      after.filter((object) => former.has(object)),
    ),
    ...renamed.map(({ object, next }) => ({
      ...placeOf(object),
      setting: 'name',
      before: object.name,
      after: next.name,
      ...numbersOf(object, next),
      parts: [goneOf(object), newOf(next)],
    })),
    ...gone.flatMap((object) => (others.has(object) ? [] : goneOf(object))),
    ...added.flatMap((object) => (others.has(object) ? [] : newOf(object))),
  ];
}

/** A check is named by the farms that use it: that none does says nothing of the check. */
function isListed({ object }: ConfiguredObject): boolean {
  return object !== 'check';
}

/** Returns a difference without what is only for its author. */
export function plainDifference({ ids: _ids, parts: _parts, ...difference }: FoundDifference): Difference {
  return difference;
}

/**
 * Returns a function that finds the numbers of a backend between two readings: those of a service
 * move down when another one is deleted. Several are gone in an order that nobody knows.
 */
function numbersSince(gone: readonly ConfiguredObject[]) {
  const ofServices = Map.groupBy(
    gone.filter(({ object }) => object === 'backend'),
    serviceOf,
  );
  const goneIn = remembered((service: string) => {
    const backends = ofServices.get(service) ?? [];
    return { count: backends.length, numbers: endsOf(backends.map(({ id }) => Number(id))) };
  });
  return (was: ConfiguredObject | undefined, is: ConfiguredObject | undefined): Pick<FoundDifference, 'ids'> => {
    const of = is ?? was;
    if (of?.object !== 'backend') return {};
    const own = [...new Set([was, is].flatMap((each) => (each?.id ? [each.id] : [])))];
    const numbers = own.map(Number);
    if (of.service === '' || !numbers.every(Number.isSafeInteger)) return { ids: own };
    const others = goneIn(serviceOf(of));
    if (!is) numbers.push(...others.numbers);
    if (!was) numbers.push(Math.max(...numbers) + others.count);
    const [from, to] = endsOf(numbers);
    return from === undefined || to === undefined ? { ids: [] } : { ids: { from, to } };
  };
}

function serviceOf({ farm, service }: ConfiguredObject): string {
  return `${farm}\n${service}`;
}

/** Returns the least and the largest of the whole numbers; nothing if there is none. */
function endsOf(numbers: readonly number[]): readonly number[] {
  const whole = numbers.filter(Number.isSafeInteger);
  return whole.length === 0 ? [] : [Math.min(...whole), Math.max(...whole)];
}

/** Returns true if a text in a call is one of the numbers. */
export function isNumberIn(ids: NonNullable<FoundDifference['ids']>, text: string): boolean {
  if (!('from' in ids)) return ids.includes(text);
  const number = Number(text);
  return String(number) === text && Number.isSafeInteger(number) && ids.from <= number && number <= ids.to;
}

/** Returns the objects of a reading, with the settings that only the one before knew. */
export function withFormerSettings(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly ConfiguredObject[] {
  const { former } = match(before, after);
  return after.map((object) => ({ ...object, settings: { ...former.get(object)?.settings, ...object.settings } }));
}

/** Returns the differences as they are the other way round. */
export function reversed(differences: readonly Difference[]): readonly Difference[] {
  return differences.map(({ before, after, ...place }) => ({ ...place, before: after, after: before }));
}

/**
 * Finds the objects of a reading in the one before; `rest` are those that are gone. Several objects
 * can have one name, as backends of one address: those with the same settings are the same.
 */
function match(before: readonly ConfiguredObject[], after: readonly ConfiguredObject[]) {
  const old = Map.groupBy(before, objectKey);
  const former = new Map<ConfiguredObject, ConfiguredObject>();
  const take = (object: ConfiguredObject, isIt: (known: ConfiguredObject) => boolean): void => {
    const known = old.get(objectKey(object)) ?? [];
    const at = known.slice(0, maxOfOneName).findIndex(isIt);
    const [found] = at === -1 ? [] : known.splice(at, 1);
    if (found) former.set(object, found);
  };
  for (const object of after) take(object, (known) => settingsThatDiffer(known, object).length === 0);
  for (const object of after) if (!former.has(object)) take(object, () => true);
  return { former, rest: [...old.values()].flat() };
}

/** Returns one text for an object within its appliance; names have no newline. */
export function objectKey({
  object,
  farm,
  service,
  name,
}: Pick<Difference, 'object' | 'farm' | 'service' | 'name'>): string {
  return [object, farm, service, name].join('\n');
}

function placeOf({ object, farm, service, name }: ConfiguredObject) {
  return { object, farm, service, name };
}

function settingsThatDiffer(before: ConfiguredObject, after: ConfiguredObject): readonly FoundDifference[] {
  return Object.entries(after.settings).flatMap(([setting, value]) => {
    const known = before.settings[setting];
    if (known === undefined || isSameSetting(setting, known, value)) return [];
    return { ...placeOf(after), setting, before: known, after: value };
  });
}

/** Compares two values; releases differ in the letter case of their own words. */
function isSameSetting(setting: string, one: string, other: string): boolean {
  return one === other || (wordSettings.has(setting) && one.toLowerCase() === other.toLowerCase());
}

/**
 * Returns a difference if the services of a farm are in another order: the first one that matches a
 * request answers it. Takes the objects that both readings have.
 */
function servicesInOtherOrder(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly FoundDifference[] {
  const [was = [], is = []] = [before, after].map((objects) => objects.filter(isAskedInOrder).map(({ name }) => name));
  const first = is.findIndex((name, index) => name !== was[index]);
  const end = is.findLastIndex((name, index) => name !== was[index]) + 1;
  const { farm } = after.find(isAskedInOrder) ?? {};
  if (farm === undefined || first < 0) return [];
  const moved = (names: readonly string[]): string => shortened(names.slice(first, end).join(', '));
  const place = { object: 'farm', farm, service: '', name: farm } as const;
  return [{ ...place, setting: serviceOrder, before: moved(was), after: moved(is) }];
}

/** Returns false for services of GSLB farms, which match no requests. */
function isAskedInOrder({ object, settings }: ConfiguredObject): boolean {
  return object === 'service' && ('vhost' in settings || 'urlp' in settings);
}

/** Returns a text that is another one for another list, however long. */
function shortened(text: string): string {
  return text.length <= maxDescription ? text : digestForm(text, text, maxDescription);
}

function wholeObject(object: ConfiguredObject, before: string | undefined, after: string | undefined): FoundDifference {
  return { ...placeOf(object), setting: '', before, after };
}

/** Pairs each object that is gone with the new one that can only be it under another name. */
function renamedOf(gone: readonly ConfiguredObject[], added: readonly ConfiguredObject[]) {
  const candidates = Map.groupBy(added, likeness);
  return [...Map.groupBy(gone, likeness)].flatMap(([text, [object, ...others]]) => {
    const [next, ...more] = candidates.get(text) ?? [];
    return text !== '' && object && next && others.length + more.length === 0 ? { object, next } : [];
  });
}

/** Returns all but the name of an object; empty if nothing is set in it. */
function likeness({ object, farm, service, settings }: ConfiguredObject): string {
  const text = settingsText(settings);
  return text === '' ? '' : [object, object === 'farm' ? '' : farm, service, text].join('\n');
}

/** Returns the beginning of what is set, for people. */
function describe(settings: ConfiguredSettings): string {
  const text = settingsText(settings);
  return text.length <= maxDescription ? text : `${text.slice(0, maxDescription - 1)}…`;
}

/** Returns the settings that are set: `weight 5, timeout 20`. */
function settingsText(settings: ConfiguredSettings): string {
  const set = Object.entries(settings).filter(([, value]) => value !== '');
  return set
    .toSorted(([one], [other]) => compareNames(one, other))
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

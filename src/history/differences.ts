import { type ConfiguredObject, type ConfiguredSettings, wordSettings } from '../collectors/configured.ts';
import { compareNames, digestForm, memoize } from '../lib/text.ts';
import type { Difference } from './event.ts';

/** Whole numbers, both ends included; an appliance may number backends as far apart as it likes. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

/** A difference, with what is needed to find the call that made it. */
export interface AttributableDifference extends Difference {
  /** The numbers by which calls may have named a backend since the previous reading. */
  readonly ids?: readonly string[] | NumberRange;
  /** For a new name, the other possibility: one object is gone, and another one is new. */
  readonly asReplacement?: readonly AttributableDifference[];
}

/** The setting of a farm with the order in which its services are matched. */
export const serviceOrder = 'services';
/** The longest description of an object that is new or gone. */
const maxDescription = 200;
/** The most objects of the same name that are compared with one; an appliance may have thousands. */
const maxOfOneName = 8;

/**
 * Compares all objects of two readings. If one object is gone and the only new one has the same
 * settings, it was renamed. A setting that one of the readings does not know is not a difference.
 */
export function compareConfigured(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly AttributableDifference[] {
  const { former, rest } = matchObjects(before, after);
  const known = new Set(former.values());
  const gone = rest.filter(isListed);
  const numbersOf = numbersSince(gone);
  const changed = [...former].flatMap(([object, was]) =>
    settingsThatDiffer(was, object).map((each) => ({ ...each, ...numbersOf(was, object) })),
  );
  const added = after.filter((object) => !former.has(object) && isListed(object));
  const renamed = renamedOf(gone, added);
  const others = new Set(renamed.flatMap(({ object, next }) => [object, next]));
  const goneOf = (object: ConfiguredObject): AttributableDifference => ({
    ...wholeObject(object, settingsSummary(object.settings), undefined),
    ...numbersOf(object, undefined),
  });
  const newOf = (object: ConfiguredObject): AttributableDifference => ({
    ...wholeObject(object, undefined, settingsSummary(object.settings)),
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
      asReplacement: [goneOf(object), newOf(next)],
    })),
    ...gone.flatMap((object) => (others.has(object) ? [] : goneOf(object))),
    ...added.flatMap((object) => (others.has(object) ? [] : newOf(object))),
  ];
}

/** Returns false for a health check: only those that a farm uses are read, so one may exist unseen. */
function isListed({ object }: ConfiguredObject): boolean {
  return object !== 'check';
}

/** Removes what is only needed to find the author. */
export function toDifference({ ids: _ids, asReplacement: _parts, ...difference }: AttributableDifference): Difference {
  return difference;
}

/**
 * Returns a function that finds all numbers that a backend may have had between two readings. A
 * deletion in its service moves the numbers above it down; the order of the deletions is unknown.
 */
function numbersSince(gone: readonly ConfiguredObject[]) {
  const ofServices = Map.groupBy(
    gone.filter(({ object }) => object === 'backend'),
    serviceOf,
  );
  const goneIn = memoize((service: string) => {
    const backends = ofServices.get(service) ?? [];
    return { count: backends.length, numbers: endsOf(backends.map(({ id }) => Number(id))) };
  });
  return (was: ConfiguredObject | undefined, is: ConfiguredObject | undefined): Pick<AttributableDifference, 'ids'> => {
    const of = is ?? was;
    if (of?.object !== 'backend') return {};
    const ids = [...new Set([was, is].flatMap((each) => (each?.id ? [each.id] : [])))];
    const numbers = ids.map(Number);
    if (of.service === '' || !numbers.every(Number.isSafeInteger)) return { ids };
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
export function isNumberIn(ids: NonNullable<AttributableDifference['ids']>, text: string): boolean {
  if (!('from' in ids)) return ids.includes(text);
  const number = Number(text);
  return String(number) === text && Number.isSafeInteger(number) && ids.from <= number && number <= ids.to;
}

/** Returns the objects of a reading, with settings that only the previous one has. */
export function withFormerSettings(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly ConfiguredObject[] {
  const { former } = matchObjects(before, after);
  return after.map((object) => ({ ...object, settings: { ...former.get(object)?.settings, ...object.settings } }));
}

/** Swaps `before` and `after`. */
export function reverseDifferences(differences: readonly Difference[]): readonly Difference[] {
  return differences.map(({ before, after, ...place }) => ({ ...place, before: after, after: before }));
}

/**
 * Finds the objects of a reading in the previous one; `rest` are those that are gone. Of several
 * objects with one name, such as backends of one address, those with the same settings match.
 */
function matchObjects(before: readonly ConfiguredObject[], after: readonly ConfiguredObject[]) {
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

/** Returns the key of an object within its appliance; names have no newline. */
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

function settingsThatDiffer(before: ConfiguredObject, after: ConfiguredObject): readonly AttributableDifference[] {
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
 * Returns a difference if the services of a farm are in another order, since the first one that
 * matches a request gets it. Takes the objects that both readings have.
 */
function servicesInOtherOrder(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly AttributableDifference[] {
  const [was = [], is = []] = [before, after].map((objects) => objects.filter(isAskedInOrder).map(({ name }) => name));
  const first = is.findIndex((name, index) => name !== was[index]);
  const end = is.findLastIndex((name, index) => name !== was[index]) + 1;
  const { farm } = after.find(isAskedInOrder) ?? {};
  if (farm === undefined || first < 0) return [];
  const moved = (names: readonly string[]): string => limitLength(names.slice(first, end).join(', '));
  const place = { object: 'farm', farm, service: '', name: farm } as const;
  return [{ ...place, setting: serviceOrder, before: moved(was), after: moved(is) }];
}

/** Returns false for services of GSLB farms, which match no requests. */
function isAskedInOrder({ object, settings }: ConfiguredObject): boolean {
  return object === 'service' && ('vhost' in settings || 'urlp' in settings);
}

/** Shortens a text so that two different ones stay different. */
function limitLength(text: string): string {
  return text.length <= maxDescription ? text : digestForm(text, text, maxDescription);
}

function wholeObject(
  object: ConfiguredObject,
  before: string | undefined,
  after: string | undefined,
): AttributableDifference {
  return { ...placeOf(object), setting: '', before, after };
}

/** Pairs each object that is gone with the only new one that has the same settings. */
function renamedOf(gone: readonly ConfiguredObject[], added: readonly ConfiguredObject[]) {
  const candidates = Map.groupBy(added, identityWithoutName);
  return [...Map.groupBy(gone, identityWithoutName)].flatMap(([text, [object, ...others]]) => {
    const [next, ...more] = candidates.get(text) ?? [];
    return text !== '' && object && next && others.length + more.length === 0 ? { object, next } : [];
  });
}

/** Returns everything but the name of an object; empty if it has no settings. */
function identityWithoutName({ object, farm, service, settings }: ConfiguredObject): string {
  const text = settingsText(settings);
  return text === '' ? '' : [object, object === 'farm' ? '' : farm, service, text].join('\n');
}

/** Returns the settings for people, shortened. */
function settingsSummary(settings: ConfiguredSettings): string {
  const text = settingsText(settings);
  return text.length <= maxDescription ? text : `${text.slice(0, maxDescription - 1)}…`;
}

/** Returns the settings with a value: `weight 5, timeout 20`. */
function settingsText(settings: ConfiguredSettings): string {
  const set = Object.entries(settings).filter(([, value]) => value !== '');
  return set
    .toSorted(([one], [other]) => compareNames(one, other))
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

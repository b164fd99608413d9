import type { ConfiguredObject, ConfiguredSettings } from '../collectors/configured.ts';
import { compareNames } from '../lib/text.ts';
import type { Difference } from './event.ts';

/** A difference, with the number by which calls name a backend. */
export interface FoundDifference extends Difference {
  readonly id?: string | undefined;
}

/** The longest description of an object that is new or gone. */
const maxDescription = 200;

/**
 * Compares all objects of two readings. An object of another name with the same settings, the only
 * one that is new beside the only one that is gone, was renamed. A setting that one of the readings
 * does not know is no difference.
 */
export function compareConfigured(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly FoundDifference[] {
  const [old, current] = [byKey(before), byKey(after)];
  const changed = [...current].flatMap(([key, object]) => {
    const known = old.get(key);
    return known ? settingsThatDiffer(known, object) : [];
  });
  // A check is named by the farms that use it: that none does says nothing of the check.
  const isListed = ({ object }: ConfiguredObject): boolean => object !== 'check';
  const gone = [...old].flatMap(([key, object]) => (current.has(key) || !isListed(object) ? [] : object));
  const added = [...current].flatMap(([key, object]) => (old.has(key) || !isListed(object) ? [] : object));
  const renamed = renamedOf(gone, added);
  const others = new Set(renamed.flatMap(({ object, next }) => [object, next]));
  return [
    ...changed,
    ...renamed.map(({ object, next }) => ({
      ...placeOf(object),
      setting: 'name',
      before: object.name,
      after: next.name,
    })),
    ...gone.flatMap((object) => (others.has(object) ? [] : wholeObject(object, describe(object.settings), undefined))),
    ...added.flatMap((object) => (others.has(object) ? [] : wholeObject(object, undefined, describe(object.settings)))),
  ];
}

/** Returns the objects of a reading, with the settings that only the one before knew. */
export function withFormerSettings(
  before: readonly ConfiguredObject[],
  after: readonly ConfiguredObject[],
): readonly ConfiguredObject[] {
  const old = byKey(before);
  return after.map((object) => ({
    ...object,
    settings: { ...old.get(objectKey(object))?.settings, ...object.settings },
  }));
}

/** Returns the differences as they are the other way round. */
export function reversed(differences: readonly Difference[]): readonly Difference[] {
  return differences.map(({ before, after, ...place }) => ({ ...place, before: after, after: before }));
}

function byKey(objects: readonly ConfiguredObject[]): ReadonlyMap<string, ConfiguredObject> {
  return new Map(objects.map((object) => [objectKey(object), object]));
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

function placeOf({ object, farm, service, name, id }: ConfiguredObject) {
  return { object, farm, service, name, ...(id !== undefined && { id }) };
}

function settingsThatDiffer(before: ConfiguredObject, after: ConfiguredObject): readonly FoundDifference[] {
  return Object.entries(after.settings).flatMap(([setting, value]) => {
    const known = before.settings[setting];
    if (known === undefined || known === value) return [];
    return { ...placeOf(after), setting, before: known, after: value };
  });
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

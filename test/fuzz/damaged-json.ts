import * as fc from 'fast-check';
import { isRecord } from '../../src/lib/check.ts';

/** One change of a JSON text; `at` counts the places in it, round and round. */
interface Damage {
  readonly kind: 'value' | 'remove' | 'rename' | 'twice' | 'wrap' | 'many';
  readonly at: number;
  /**
   * JSON text that stands where the kind wants one; some of it is more than JSON.stringify would
   * ever write.
   */
  readonly json: string;
  readonly key: string;
}

const deep = 3_000;

const hostileJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...'null true false 0 -0 -1 1e999 -1e999 1e-999 9007199254740993 0.1'.split(' '),
    ...'123456789012345 ""'.split(' '),
    '" "',
    ...'"NA" "-" "0x10" "1e999" "NaN" "Infinity" "-0" "007" "1,5"'.split(' '),
    '"5 MB"',
    ...'"up" {} [] [[]] [null] {"__proto__":{"polluted":true}}'.split(' '),
    ...'{"constructor":{"prototype":{"polluted":true}}} "\\ud800" "\\u0000" "a\\nb"'.split(' '),
    ...'"../../x" "%2e%2e" "\\u2028"'.split(' '),
    '"Nov  6 00:00:00 2025 GMT"',
    `"${'x'.repeat(5_000)}"`,
    `${'['.repeat(deep)}${']'.repeat(deep)}`,
    `${'{"params":'.repeat(deep)}1${'}'.repeat(deep)}`,
  ),
  fc.json({ maxDepth: 3 }),
  fc.double().map(String),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
);

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('value', 'value', 'value', 'remove', 'rename', 'twice', 'wrap', 'many'),
  at: fc.nat({ max: 100_000 }),
  json: hostileJson,
  key: fc.constantFrom('__proto__', 'constructor', 'length', '', 'params', 'status', 'farmname', '0', 'toString'),
});

/** How to damage a body: mostly as JSON that is still JSON. */
export const damages = fc.array(damage, { minLength: 1, maxLength: 5 });

/** The body with the damages; one that is not JSON comes back as it is. */
export function damageJson(text: string, list: readonly Damage[]): string {
  const raw = new Map<string, string>();
  let root: unknown;
  try {
    root = { body: JSON.parse(text) as unknown };
  } catch {
    return text;
  }
  /**
   * Stands for a text that is put in once all is written: nothing else can write 1e999, or a key
   * twice.
   */
  const standIn = (json: string): string => {
    const name = `stand-in-${raw.size}-`;
    raw.set(name, json);
    return name;
  };
  for (const each of list) {
    const places = placesIn(root);
    const place = places[each.at % places.length];
    if (place) damageAt(place, each, standIn);
  }
  let written = JSON.stringify((root as { body?: unknown }).body) ?? '';
  for (const [name, json] of raw) written = written.replace(`"${name}":0`, () => json).replace(`"${name}"`, () => json);
  return written;
}

interface Place {
  readonly within: Record<string, unknown> | unknown[];
  readonly key: string;
}

function damageAt({ within, key }: Place, { kind, json, key: name }: Damage, standIn: (json: string) => string): void {
  const holder = within as Record<string, unknown>;
  const value = holder[key];
  switch (kind) {
    case 'value':
      holder[key] = standIn(json);
      break;
    case 'remove':
      if (Array.isArray(within)) within.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 'rename':
    case 'twice':
      if (Array.isArray(within)) within.push(value);
      else holder[standIn(`${JSON.stringify(kind === 'rename' ? name : key)}:${json}`)] = 0;
      break;
    case 'wrap':
      holder[key] = Array.isArray(value) ? Object.fromEntries(value.entries()) : [value];
      break;
    case 'many':
      if (Array.isArray(value)) holder[key] = value.flatMap((each: unknown) => [each, structuredClone(each)]);
      break;
  }
}

function placesIn(root: unknown): readonly Place[] {
  const places: Place[] = [];
  const open: unknown[] = [root];
  while (open.length > 0) {
    const within = open.pop();
    if (!Array.isArray(within) && !isRecord(within)) continue;
    for (const key of Object.keys(within)) {
      places.push({ within, key });
      open.push((within as Record<string, unknown>)[key]);
    }
  }
  return places;
}

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseJson } from '../../../src/lib/check.ts';
import { ConfigError, type ConfigProblem } from '../../../src/config/problems.ts';
import { loadText } from './given-config.ts';

const folder = fileURLToPath(new URL('bad/', import.meta.url));

type Holder = Record<string | number, unknown>;

/** The holder of a value, and its key or position there, which may be missing. */
interface Place {
  readonly holder: Holder;
  step: string | number;
}

async function problemsOf(document: unknown): Promise<readonly ConfigProblem[]> {
  try {
    await loadText(JSON.stringify(document));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null;
}

function wordOf(holder: Holder, step: string | number): string {
  return Array.isArray(holder) ? `[${step}]` : `.${step}`;
}

/** Finds the place of a key path such as `.appliances[0].name`. */
function placeOf(holder: Holder, path: string): Place | undefined {
  for (const [step, value] of Object.entries(holder)) {
    const word = wordOf(holder, step);
    const rest = path.slice(word.length);
    if (!path.startsWith(word) || !/^(?:$|[.[])/.test(rest)) continue;
    if (rest === '') return { holder, step: Array.isArray(holder) ? Number(step) : step };
    const place = isHolder(value) ? placeOf(value, rest) : undefined;
    if (place) return place;
  }
  return /^\.[^.[\]]+$/.test(path) ? { holder, step: path.slice(1) } : undefined;
}

/** Returns the key path of a holder below another one; undefined if it is elsewhere. */
function pathOf(root: unknown, holder: Holder): string | undefined {
  if (root === holder) return '';
  if (!isHolder(root)) return undefined;
  for (const [step, value] of Object.entries(root)) {
    const below = pathOf(value, holder);
    if (below !== undefined) return wordOf(root, step) + below;
  }
  return undefined;
}

/** A key that no message repeats, because it may be a secret. */
const hiddenKey = /\[\?\]$/;

/** Takes out what another problem is about, or writes what a holder of the value of `own` lacks. */
function takeOut(root: Holder, { key, message }: ConfigProblem, own: Place, round: number): void {
  const place = placeOf(root, `.${key.replace(hiddenKey, '')}`);
  if (!place) throw new Error(`${key} is not found: ${message}`);
  const { holder, step } = place;
  const value = holder[step];
  if (hiddenKey.test(key) && isHolder(value)) {
    for (const each of Object.keys(value)) if (!/^[a-z_]+$/.test(each)) Reflect.deleteProperty(value, each);
  } else if (message.startsWith('is missing') && pathOf(holder, own.holder) !== undefined) {
    const digest = String(round).padStart(64, 'a');
    const given = { name: `other${round}`, sha256: digest }[step] ?? valuesIn(message)[0]?.[0] ?? 'x';
    // What only the user knows.
    holder[step] = JSON.parse(JSON.stringify(given).replaceAll('65bdf14c…', digest));
  } else if (message.startsWith('is missing')) {
    takeOut(root, { key: (pathOf(root, holder) ?? '').slice(1), message: '', file: '' }, own, round);
  } else if (Array.isArray(holder)) {
    holder.splice(Number(step), 1);
    if (holder === own.holder && Number(step) < Number(own.step)) own.step = Number(own.step) - 1;
  } else {
    Reflect.deleteProperty(holder, step);
  }
}

/** Returns the values that a message proposes, each with all texts that it may mean. */
function valuesIn(message: string): readonly (readonly unknown[])[] {
  return [...message.matchAll(/such as /g)].map(({ index }) => {
    const words = message.slice(index + 'such as '.length).split(' ');
    const texts = words.map((_, last) =>
      words
        .slice(0, last + 1)
        .join(' ')
        .replace(/[;,?]$/, ''),
    );
    if (!/^["[{]/.test(words[0] ?? '')) return texts.slice(0, 3);
    return [texts.map((text) => parseJson(text)).find((value) => value !== undefined)];
  });
}

/** Writes a value where a message wants it, or as the key; returns what is said of it when nothing else is wrong. */
async function saidAfter(
  given: Holder,
  { key, message }: ConfigProblem,
  value: unknown,
  more: number,
): Promise<readonly ConfigProblem[]> {
  const root = structuredClone(given);
  const own = placeOf(root, `.${key}`);
  if (!own) throw new Error(`${key} is not found: ${message}`);
  if (/is not an address|another name/.test(message)) {
    const old = own.holder[own.step];
    Reflect.deleteProperty(own.holder, own.step);
    own.step = String(value);
    own.holder[own.step] = old;
  } else {
    if (message.includes('set max_stale')) own.step = 'max_stale';
    own.holder[own.step] = value;
  }
  for (let round = 0; round < 100; round += 1) {
    const path = `${pathOf(root, own.holder)}${wordOf(own.holder, own.step)}`.slice(1);
    const problems = (await problemsOf(root)).filter((each) => each.key !== '');
    const ours = problems.filter(
      (each) => each.key.startsWith(path) && /^(?:$|[.[])/.test(each.key.slice(path.length)),
    );
    if (ours.length > 0) {
      const first = ours.find((each) => !isOfOthers.test(each.message));
      if (!first) return [];
      const [values] = valuesIn(first.message);
      // One check follows another.
      return values && more > 0 && first.message !== message ? await saidOfBest(root, first, values, more - 1) : ours;
    }
    const [other] = problems;
    if (!other) return [];
    takeOut(root, other, own, round);
  }
  throw new Error(`the problems beside ${key} do not end`);
}

/** Examples have names, paths and variables of others, and … for what only the user knows. */
const isOfOthers = /duplicates|is not configured|another pair|no such file|is not set|…/;

/** Returns what is said of that of the values that has the fewest problems. */
async function saidOfBest(
  root: Holder,
  problem: ConfigProblem,
  values: readonly unknown[],
  more = 1,
): Promise<readonly ConfigProblem[]> {
  let best: readonly ConfigProblem[] | undefined;
  for (const value of values) {
    if (JSON.stringify(value).includes('…')) return [];
    const said = await saidAfter(root, problem, value, more);
    if (said.length === 0) return [];
    best ??= said;
  }
  return best ?? [];
}

describe('the advice in a configuration error', () => {
  const documents = readdirSync(folder)
    .filter((name) => name.endsWith('.yml'))
    .flatMap((name) => {
      try {
        const document: unknown = JSON.parse(JSON.stringify(parse(readFileSync(folder + name, 'utf8'))));
        return isHolder(document) ? [{ name, document }] : [];
      } catch {
        return [];
      }
    });

  it.each(documents)('is accepted when it is followed: $name', async ({ document }) => {
    for (const problem of await problemsOf(document)) {
      if (problem.key === '' || hiddenKey.test(problem.key)) continue;
      for (const values of valuesIn(problem.message))
        expect(await saidOfBest(document, problem, values), problem.message).toEqual([]);
    }
  });

  const list = (from: number, to: number) =>
    fc.uniqueArray(fc.integer({ min: from, max: to }), { minLength: 1, maxLength: 3 }).map((days) => days.join(','));

  it('keeps readings until the next poll for any schedule', async () => {
    const day = fc.oneof(fc.constant('*'), list(1, 28), fc.constant('L'));
    const weekday = fc.oneof(fc.constant('*'), list(0, 6));
    const month = fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, list(1, 12));
    const problemOf = async (schedule: string, max_stale: string) => {
      const appliances = [
        { name: 'lb', url: 'https://192.0.2.10', api_key: 'k', collectors: { backups: { schedule, max_stale } } },
      ];
      return (await problemsOf({ appliances }))[0]?.message;
    };
    await fc.assert(
      fc.asyncProperty(day, month, weekday, async (...days) => {
        const schedule = `0 0 3 ${days.join(' ')}`;
        const message = await problemOf(schedule, '2h');
        const ways = [
          ...[...(message ?? '').matchAll(/"([^"]+)" with max_stale (\w+)/g)].map(([, ...way]) => way),
          ...[...(message ?? '').matchAll(/such as (\w+)/g)].map(([, maxStale]) => [schedule, maxStale]),
        ];
        expect(ways.length > 0 || /never runs|poll more often/.test(message ?? ''), message).toBe(true);
        for (const [other = '', maxStale = ''] of ways) expect(await problemOf(other, maxStale)).toBeUndefined();
      }),
    );
  });
});

import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'rolldown/utils';
import { expect, it } from 'vitest';

/** A pattern whose time grows with the square takes 2 ms and more for the shorter text, a linear one 0.1 ms. */
const lengths = { shorter: 3_000, longer: 16_000 };
const maxMs = { shorter: 1, longer: 20 };

interface Found {
  readonly place: string;
  readonly pattern: RegExp;
}

function patternsOf(file: string): readonly Found[] {
  const text = readFileSync(file, 'utf8');
  const found: Found[] = [];
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      const line = text.slice(0, node.start).split('\n').length;
      found.push({ place: `${file}:${line}`, pattern: new RegExp(node.regex.pattern, node.regex.flags) });
    },
  }).visit(parseSync(file, text).program);
  return found;
}

/** Runs of each character that a pattern names or that its classes stand for, alone, in pairs, and after a near miss. */
function attacksOn({ source }: RegExp, length: number): readonly string[] {
  const named = source.replaceAll(/\\[a-zA-Z]|[\\^$.*+?()[\]{}|]/g, '');
  const characters = [...new Set([...named, 'a', '0', ' ', '\n', '-', '%', '"', '\\', '/', ':', '='])].slice(0, 24);
  const words = source.match(/[a-z]{3,}|-----BEGIN|\(\?:?%|\d{3}/gi) ?? [];
  const units = [...characters, ...words, 'a=b ', '%41', '"a', 'a:/'];
  return [...new Set(units)].flatMap((unit) => {
    const run = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
    return [run, `${run}\u0000`];
  });
}

function cpuMs(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Returns the processor time of the work; the least of three, since others use the processor's caches too. */
function leastMs(work: () => void): number {
  return Math.min(...[1, 2, 3].map(() => cpuMs(work)));
}

it('no pattern backtracks: the time of each grows no faster than the text', () => {
  const slow = globSync(['src/**/*.ts', 'src/**/*.js'])
    .flatMap(patternsOf)
    .flatMap(({ place, pattern }) => {
      const all = new RegExp(pattern, pattern.global ? pattern.flags : `${pattern.flags}g`);
      const long = attacksOn(pattern, lengths.longer);
      const found = attacksOn(pattern, lengths.shorter).findIndex(
        (text, index) =>
          cpuMs(() => void text.replaceAll(all, '')) > maxMs.shorter &&
          leastMs(() => void (long[index] ?? '').replaceAll(all, '')) > maxMs.longer,
      );
      return found === -1 ? [] : [`${place} ${pattern}: ${JSON.stringify(long[found]?.slice(0, 12))}…`];
    });

  expect(slow).toEqual([]);
});

import { expect, it } from 'vitest';
import { mostLines, sayLines } from '../../../../src/commands/admin/say-lines.ts';

function say(count: number) {
  const said: string[] = [];
  const warned: string[] = [];
  sayLines(
    Array.from({ length: count }, (_, index) => String(index)),
    { say: (line) => said.push(line), warn: (line) => warned.push(line) },
  );
  return { said, warned };
}

it('shows as many lines as a person can want', () => {
  const { said, warned } = say(mostLines);

  expect(said).toHaveLength(mostLines);
  expect(warned).toEqual([]);
});

it('cuts what is longer, and says so where a pipe does not swallow it', () => {
  const { said, warned } = say(mostLines + 1);

  expect(said).toHaveLength(mostLines);
  expect(warned).toEqual([expect.stringMatching(/only the first 10000 lines .*--json .*--output=FILE/)]);
});

import { expect, it } from 'vitest';
import { maxLines, printLines } from '../../../../src/commands/admin/render.ts';

function say(count: number) {
  const said: string[] = [];
  const warned: string[] = [];
  printLines(
    Array.from({ length: count }, (_, index) => String(index)),
    { say: (line) => said.push(line), warn: (line) => warned.push(line) },
  );
  return { said, warned };
}

it('prints as many lines as a person reads', () => {
  const { said, warned } = say(maxLines);

  expect(said).toHaveLength(maxLines);
  expect(warned).toEqual([]);
});

it('prints the first lines of a longer answer, and a note on standard error', () => {
  const { said, warned } = say(maxLines + 1);

  expect(said).toHaveLength(maxLines);
  expect(warned).toEqual([expect.stringMatching(/only the first 10000 lines .*--json .*--output=FILE/)]);
});

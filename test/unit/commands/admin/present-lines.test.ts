import { expect, it } from 'vitest';
import { presentLines } from '../../../../src/commands/admin/change-lines.ts';

it.each([
  ['an object', { params: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`value${index}`, index])) }],
  ['a list', { params: Array.from({ length: 59 }, (_, id) => ({ id, status: 'up' })) }],
])('the current state of %s with many values is truncated, and the output says how to show all', (_, body) => {
  const lines = presentLines({ operation: 'readFarm', status: 200, body });

  expect(lines).toHaveLength(42);
  expect([lines[0], lines.at(-1)]).toEqual(['Now (readFarm)', '  … and 20 more lines; readFarm shows all']);
});

import { expect, it } from 'vitest';
import { remembered } from '../../../src/lib/text.ts';

it('computes once for each text, also for undefined', () => {
  const asked: string[] = [];
  const find = remembered((text: string) => {
    asked.push(text);
    return text === 'none' ? undefined : text.length;
  });

  expect([find('one'), find('three'), find('one'), find('none'), find('none')]).toEqual([
    3,
    5,
    3,
    undefined,
    undefined,
  ]);
  expect(asked).toEqual(['one', 'three', 'none']);
});

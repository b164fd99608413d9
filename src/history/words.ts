import type { Difference } from './event.ts';

/** Returns the names that an object is part of: its service and its farm. */
export function wholeOf({ object, farm, service }: Pick<Difference, 'object' | 'farm' | 'service'>): string {
  return [object === 'service' ? '' : service, object === 'farm' ? '' : farm].filter((name) => name !== '').join(', ');
}

/** Returns what became of an object: `weight: 1 → 5`. */
export function changeText({ setting, before, after }: Pick<Difference, 'setting' | 'before' | 'after'>): string {
  if (setting !== '') return `${setting}: ${before || 'none'} → ${after || 'none'}`;
  return after === undefined ? `gone: ${before}` : `new: ${after}`;
}

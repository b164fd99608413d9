import { describe, expect, it } from 'vitest';
import { presentStateLines } from '../../../../src/commands/admin/dry-run-lines.ts';

describe('the present state of an object', () => {
  it('shows the object, then its state and its parts, then the rest', () => {
    const body = {
      description: 'Get farm shop',
      params: { algorithm: 'weight', comment: '', persistence: '', status: 'up', vip: '192.0.2.1' },
      backends: [
        { id: 0, ip: '192.0.2.5', status: 'up' },
        { id: 1, ip: '192.0.2.6', status: 'down' },
      ],
    };

    expect(presentStateLines(body, ['persistence'], 'readFarm')).toEqual([
      'persistence',
      'status       up',
      'vip          192.0.2.1',
      'backends     0: up, 1: down',
      'algorithm    weight',
    ]);
  });

  it('stays a screen for an object with many values and for a long list', () => {
    const wide = { params: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`value${index}`, index])) };
    const long = { params: Array.from({ length: 40 }, (_, id) => ({ id, status: 'up' })) };
    const text = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');

    expect(presentStateLines(wide, [], 'readFarm').slice(-2)).toEqual([
      'value11  11',
      '… and 28 more values; readFarm shows all',
    ]);
    expect(presentStateLines(long, [], 'readFarm').slice(-2)).toEqual([
      '10  up',
      '… and 29 more lines; readFarm shows all',
    ]);
    expect(presentStateLines(text, [], 'readFarm').slice(-2)).toEqual([
      'line 11',
      '… and 28 more lines; readFarm shows all',
    ]);
  });

  it.each([[null], [[]], [{}], [{ params: null }], [{ params: {} }], ['']])('is empty for %j', (body) => {
    expect(presentStateLines(body, [], 'readFarm')).toEqual(['(nothing)']);
  });

  it('ends for extreme nesting, and controls no terminal', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 10_000; level += 1) deep = { inner: deep };

    expect(presentStateLines({ params: deep }, [], 'readFarm').length).toBeLessThan(20);
    expect(presentStateLines({ params: { 'a\u001b[2J': 'b\u009b' } }, [], 'readFarm').join()).not.toMatch(/\p{Cc}/u);
  });
});

import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExposition, type Exposition } from '../../../src/metrics/exposition.ts';
import type { Page } from '../../../src/metrics/page.ts';
import { toChunks } from '../../../src/metrics/piece.ts';
import { counter, gauge, histogram } from '../../../src/metrics/family.ts';
import { gzipMember, pack } from '../../../src/metrics/gzip.ts';
import { type Emit, renderSamples } from '../../../src/metrics/samples.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { feed, isThere } from '../../support/programs.ts';

const up = gauge('zlb_up', 'Whether it answers (any call).');
const calls = counter('zlb_calls_total', 'Calls with a \\ and a\nnewline (this exporter).', ['code']);
const seconds = histogram('zlb_call_seconds', 'Length of calls (this exporter).');
const families = [up, calls, seconds];
const everything = { texts: true };

describe('a page', () => {
  it('has the families in their order, each once, with the appliances in theirs', () => {
    const exposition = given();

    put(exposition, 'lb-2', 'a', (emit) => emit.sample(calls, { code: '200' }, 2));
    put(exposition, 'lb-1', 'b', (emit) => emit.sample(calls, { code: '500' }, 1));
    put(exposition, 'lb-1', 'a', (emit) => {
      emit.sample(calls, { code: '200' }, 3);
      emit.sample(up, {}, 1);
    });

    expect(textOf(exposition.page('text'))).toBe(
      '# HELP zlb_up Whether it answers (any call).\n' +
        '# TYPE zlb_up gauge\n' +
        'zlb_up{appliance="lb-1"} 1\n' +
        '# HELP zlb_calls_total Calls with a \\\\ and a\\nnewline (this exporter).\n' +
        '# TYPE zlb_calls_total counter\n' +
        'zlb_calls_total{appliance="lb-1",code="500"} 1\n' +
        'zlb_calls_total{appliance="lb-1",code="200"} 3\n' +
        'zlb_calls_total{appliance="lb-2",code="200"} 2\n',
    );
  });

  it('is empty before the first reading', () => {
    expect(textOf(given().page('text'))).toBe('');
    expect(unpacked(given().page('text'))).toBe('');
  });

  it('in OpenMetrics names the family of a counter without the suffix, and differs in nothing else', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);

    const classic = textOf(exposition.page('text'));
    const openmetrics = textOf(exposition.page('openmetrics'));

    expect(openmetrics).toBe(classic.replaceAll(/^(# \w+ zlb_calls)_total /gm, '$1 '));
    expect(openmetrics).toMatch(/^zlb_calls_total{/m);
  });

  it('can be had for some appliances only', () => {
    const exposition = given();
    for (const appliance of ['lb-1', 'lb-2', 'lb-3']) put(exposition, appliance, 'a', fillEverything);

    const page = textOf(exposition.page('text', new Set(['lb-3', 'lb-1', 'lb-9'])));

    expect(page.match(/^zlb_up.*$/gm)).toEqual(['zlb_up{appliance="lb-1"} 1', 'zlb_up{appliance="lb-3"} 1']);
  });

  it('leaves out families that have no series', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', (emit) => emit.sample(up, {}, null));

    expect(textOf(exposition.page('text'))).toBe('');
  });
});

describe('a page that nothing changed', () => {
  it('is the same object again, with the same bytes in both encodings', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);
    const page = exposition.page('text');

    expect(exposition.page('text')).toBe(page);
    expect(exposition.page('text').packed).toBe(page.packed);
    expect(exposition.page('text').texts).toBe(page.texts);
  });

  it('stays what it was for who holds it, when another one takes its place', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));
    const before = exposition.page('text');

    put(exposition, 'lb-1', 'a', (emit) => emit.sample(up, {}, 1));

    expect(exposition.page('text')).not.toBe(before);
    expect(textOf(before)).toContain('} 0\n');
    expect(textOf(exposition.page('text'))).toContain('} 1\n');
  });

  it('keeps the bytes of every other appliance when one has new readings', () => {
    const exposition = given();
    const fillLong = (value: number) => (emit: Emit) => {
      emit.sample(up, {}, 1);
      for (let code = 0; code < 300; code += 1) emit.sample(calls, { code: String(code) }, value);
    };
    for (const appliance of ['lb-1', 'lb-2', 'lb-3']) put(exposition, appliance, 'a', fillLong(1));
    const before = exposition.page('text').texts;

    put(exposition, 'lb-1', 'a', fillLong(2));

    const memories = new Set(before.map(({ buffer }) => buffer));
    const shared = exposition.page('text').texts.filter(({ buffer }) => memories.has(buffer));
    // Two headers, the calls of lb-2 and of lb-3, and zlb_up of all three, which says what it said.
    expect(shared).toHaveLength(5);
  });

  it('is not disturbed by the removal of what is not there', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);
    const page = exposition.page('text');

    exposition.remove('lb-1', 'b');
    exposition.remove('lb-9', 'a');
    put(exposition, 'lb-9', 'a', fillEverything);

    expect(exposition.page('text')).toBe(page);
  });
});

describe('a part', () => {
  it('replaces all that it had on the page', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);

    put(exposition, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));

    expect(textOf(exposition.page('text')).match(/^[^#].*$/gm)).toEqual(['zlb_up{appliance="lb-1"} 0']);
  });

  it('is gone at once when it is removed, headers included', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));
    put(exposition, 'lb-1', 'b', (emit) => emit.sample(calls, { code: '200' }, 1));

    exposition.remove('lb-1', 'b');

    expect(textOf(exposition.page('text'))).not.toContain('zlb_calls');
    expect(unpacked(exposition.page('text'))).not.toContain('zlb_calls');
  });

  it('counts towards the series of its appliance alone', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);
    put(exposition, 'lb-1', 'b', (emit) => emit.sample(calls, { code: '404' }, 1));
    put(exposition, 'lb-2', 'a', fillEverything);

    expect(exposition.series('lb-1')).toBe(7);
    expect(exposition.series('lb-9')).toBe(0);
  });
});

it('is counted as it is put, not over and over whenever somebody asks how many series there are', () => {
  const exposition = given();
  let looks = 0;
  const [finished] = toChunks([{ family: up, text: 'zlb_up 1\n', series: 1 }], [], pack);
  if (!finished) throw new Error('a family has a chunk');
  const chunk = {
    ...finished,
    get series() {
      looks += 1;
      return 1;
    },
  };

  for (let part = 0; part < 100; part += 1) {
    exposition.put('lb-1', String(part), [chunk]);
    expect(exposition.series('lb-1')).toBe(part + 1);
  }

  expect(looks).toBe(100);
});

describe('any history of readings', () => {
  const step = fc.record({
    what: fc.constantFrom('put', 'remove', 'look'),
    appliance: fc.constantFrom('lb-1', 'lb-2', 'lb-3'),
    part: fc.constantFrom('a', 'b'),
    value: fc.nat(),
  });

  it('leaves a page that holds the last reading of each part, the same in both encodings', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const exposition = given();
        const expected = new Map<string, number>();
        for (const { what, appliance, part, value } of steps) {
          const key = `${appliance} ${part}`;
          if (what === 'put') {
            put(exposition, appliance, part, (emit) => emit.sample(calls, { code: part }, value));
            expected.set(key, value);
          } else if (what === 'remove') {
            exposition.remove(appliance, part);
            expected.delete(key);
          } else {
            unpacked(exposition.page('text'));
          }
        }

        for (const appliance of ['lb-1', 'lb-2', 'lb-3']) {
          const parts = ['a', 'b'].filter((part) => expected.has(`${appliance} ${part}`));
          expect(exposition.series(appliance)).toBe(parts.length);
        }
        const page = exposition.page('text');
        const samples = parseExposition(textOf(page), 'text').flatMap((family) => family.samples);
        expect(new Map(samples.map(({ labels, value }) => [`${labels.appliance} ${labels.code}`, value]))).toEqual(
          expected,
        );
        expect(unpacked(page)).toBe(textOf(page));
      }),
    );
  });
});

describe('any history of readings of many appliances', () => {
  // More than two groups of appliances, and as many lines as large farms have.
  const appliances = Array.from({ length: 70 }, (_, index) => `lb-${index}`);
  const step = fc.record({
    what: fc.constantFrom('put', 'put', 'remove', 'arrange', 'join ahead', 'join a little', 'look', 'hold'),
    appliance: fc.nat({ max: appliances.length - 1 }),
    part: fc.constantFrom('a', 'b'),
    lines: fc.constantFrom(0, 1, 2, 150),
    value: fc.nat({ max: 3 }),
  });

  it('leaves the page that joining everything anew would give, in both formats and encodings, whole and for some', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const exposition = createExposition({ families, appliances });
        let arranged = appliances;
        const held = new Map<string, string>();
        // As the upkeep does it: begun, left for whatever comes between, and gone on with.
        let ahead = exposition.joinAhead(everything)[Symbol.iterator]();
        const pages: { readonly page: Page; readonly text: string }[] = [];
        for (const { what, appliance, part, lines, value } of steps) {
          const name = appliances[appliance] ?? '';
          const key = `${name} ${part}`;
          if (what === 'put') {
            put(exposition, name, part, (emit) => {
              for (let line = 0; line < lines; line += 1) emit.sample(calls, { code: `${part}${line}` }, value);
            });
            held.delete(key);
            if (lines > 0 && arranged.includes(name))
              held.set(
                key,
                Array.from(
                  { length: lines },
                  (_, line) => `zlb_calls_total{appliance="${name}",code="${part}${line}"} ${value}\n`,
                ).join(''),
              );
          } else if (what === 'remove') {
            exposition.remove(name, part);
            held.delete(key);
          } else if (what === 'arrange') {
            arranged = appliances.slice(appliance).toReversed();
            exposition.arrange(arranged);
            for (const each of held.keys()) if (!arranged.includes(each.split(' ')[0] ?? '')) held.delete(each);
          } else if (what === 'join ahead') {
            for (const _ of value > 1 ? exposition.joinAheadOf(name) : exposition.joinAhead({ texts: value % 2 > 0 }));
          } else if (what === 'join a little') {
            for (let joined = 0; joined <= lines; joined += 1)
              if (ahead.next().done) ahead = exposition.joinAhead({ texts: value % 2 > 0 })[Symbol.iterator]();
          } else if (what === 'hold') {
            const form = { format: 'openmetrics', compressed: value % 2 > 0 } as const;
            const some = new Set([name]);
            expect(textOf(exposition.finishedPage(name, form))).toBe(textOf(exposition.page('openmetrics', some)));
            for (const page of [
              exposition.page('text'),
              exposition.page('openmetrics', some),
              exposition.finishedPage(name, form),
            ])
              pages.push({ page, text: textOf(page) });
          } else {
            unpacked(exposition.page('text'));
          }
        }

        for (const { page, text } of pages) {
          expect(textOf(page)).toBe(text);
          expect(unpacked(page)).toBe(text);
        }
        const linesOf = (name: string) =>
          textOf(exposition.page('text', new Set([name])))
            .split('\n')
            .slice(2)
            .join('\n');
        for (const name of arranged)
          expect(linesOf(name).split('\n').toSorted()).toEqual(
            ['a', 'b']
              .map((part) => held.get(`${name} ${part}`) ?? '')
              .join('')
              .split('\n')
              .toSorted(),
          );
        const page = exposition.page('text');
        const [help = '', type = ''] = textOf(page).split('\n');
        const body = arranged.map(linesOf).join('');
        expect(textOf(page)).toBe(body === '' ? '' : `${help}\n${type}\n${body}`);
        expect(page.size).toBe(Buffer.byteLength(textOf(page)));
        expect(unpacked(page)).toBe(textOf(page));
        const openmetrics = exposition.page('openmetrics');
        expect(unpacked(openmetrics)).toBe(textOf(openmetrics));
        expect(textOf(openmetrics).replace(help.replace('_total ', ' '), help).split('\n').slice(2)).toEqual(
          textOf(page).split('\n').slice(2),
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe('the appliances of a page', () => {
  it('are arranged anew: who stays keeps what it holds, who is gone leaves nothing behind, who is new begins empty', () => {
    const exposition = given();
    for (const appliance of ['lb-1', 'lb-2', 'lb-3']) put(exposition, appliance, 'a', fillEverything);
    exposition.page('text');

    exposition.arrange(['lb-4', 'lb-3', 'lb-1']);
    put(exposition, 'lb-2', 'a', fillEverything);
    const arranged = textOf(exposition.page('text')).match(/^zlb_up.*$/gm);
    exposition.arrange(['lb-2', 'lb-4', 'lb-3', 'lb-1']);
    put(exposition, 'lb-4', 'a', fillEverything);
    const later = textOf(exposition.page('text')).match(/^zlb_up.*$/gm);

    expect(arranged).toEqual(['zlb_up{appliance="lb-3"} 1', 'zlb_up{appliance="lb-1"} 1']);
    expect(later).toEqual(['zlb_up{appliance="lb-4"} 1', 'zlb_up{appliance="lb-3"} 1', 'zlb_up{appliance="lb-1"} 1']);
    expect(exposition.series('lb-2')).toBe(0);
  });

  it('are arranged as before without a page that is joined anew', () => {
    const exposition = given();
    for (const appliance of ['lb-1', 'lb-2', 'lb-3']) put(exposition, appliance, 'a', fillEverything);
    const page = exposition.page('text');

    exposition.arrange(['lb-1', 'lb-2', 'lb-3']);

    expect(exposition.page('text')).toBe(page);
  });

  it('may begin anew at their places', () => {
    const exposition = given();
    for (const appliance of ['lb-1', 'lb-2', 'lb-3']) put(exposition, appliance, 'a', fillEverything);
    exposition.page('text');

    exposition.arrange(['lb-1', 'lb-2', 'lb-3'], new Set(['lb-2']));

    expect(textOf(exposition.page('text')).match(/^zlb_up.*$/gm)).toEqual([
      'zlb_up{appliance="lb-1"} 1',
      'zlb_up{appliance="lb-3"} 1',
    ]);
  });
});

describe('what a reading says again', () => {
  it('keeps its chunk, and a page on which nothing else changed is the same object again', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);
    const chunks = exposition.chunks('lb-1', 'a');
    const page = exposition.page('text');

    put(exposition, 'lb-1', 'a', fillEverything);
    expect(exposition.chunks('lb-1', 'a')).toEqual(chunks);
    expect(exposition.page('text')).toBe(page);
    put(exposition, 'lb-1', 'a', (emit) => {
      fillEverything(emit);
      emit.sample(calls, { code: '500' }, 1);
    });

    const kept = exposition.chunks('lb-1', 'a').filter((chunk) => chunks.includes(chunk));
    expect(kept.map(({ family }) => family)).toEqual([up, seconds]);
    expect(textOf(exposition.page('text'))).toContain('zlb_calls_total{appliance="lb-1",code="500"} 1\n');
  });

  it('is kept once: joined chunks are parts of what they were joined into', () => {
    const exposition = given();
    for (const part of ['a', 'b', 'c']) put(exposition, 'lb-1', part, (emit) => emit.sample(calls, { code: part }, 1));
    const before = textOf(exposition.page('text'));

    const memory = new Set(
      ['a', 'b', 'c'].flatMap((part) => exposition.chunks('lb-1', part)).map(({ text }) => text.memory),
    );
    put(exposition, 'lb-1', 'b', (emit) => emit.sample(calls, { code: 'b' }, 2));

    expect(memory.size).toBe(1);
    expect(textOf(exposition.page('text'))).toBe(before.replace('code="b"} 1', 'code="b"} 2'));
  });

  it('has one memory for each reading, which keeps nothing of the one before', () => {
    const exposition = given();
    put(exposition, 'lb-1', 'a', fillEverything);
    const before = textOf(exposition.page('text'));

    put(exposition, 'lb-1', 'a', (emit) => {
      fillEverything(emit);
      emit.sample(calls, { code: '500' }, 1);
    });

    const places = exposition.chunks('lb-1', 'a').flatMap(({ text, blocks }) => [text, blocks]);
    expect(new Set(places.map(({ memory }) => memory)).size).toBe(1);
    expect(places[0]?.memory.length).toBe(places.reduce((sum, { length }) => sum + length, 0));
    const added = 'zlb_calls_total{appliance="lb-1",code="200"} 1\n';
    expect(textOf(exposition.page('text'))).toBe(before.replace(added, `${added}${added.replace('200', '500')}`));
  });
});

describe('joining ahead', () => {
  it('leaves nothing to join for the page that follows', () => {
    const exposition = given();
    for (const appliance of ['lb-1', 'lb-2']) put(exposition, appliance, 'a', fillEverything);

    const first = [...exposition.joinAhead(everything)].length;

    expect(first).toBeGreaterThan(0);
    expect([...exposition.joinAhead(everything)]).toEqual([]);
    put(exposition, 'lb-1', 'a', (emit) => emit.sample(up, {}, 0));
    expect([...exposition.joinAhead(everything)].length).toBeGreaterThan(0);
    expect(textOf(exposition.page('text'))).toContain('zlb_up{appliance="lb-1"} 0\nzlb_up{appliance="lb-2"} 1\n');
  });

  it('joins no text that nobody asks for, and leaves nothing to join of what is asked for', () => {
    const [compressed, plain] = [given(), given()];
    for (const exposition of [compressed, plain])
      for (const part of ['a', 'b', 'c'])
        put(exposition, 'lb-1', part, (emit) => emit.sample(calls, { code: part }, 1));

    for (const _ of compressed.joinAhead({ texts: false }));
    for (const _ of plain.joinAhead({ texts: true }));

    expect([compressed, plain].map((each) => textMemories(each, ['a', 'b', 'c']))).toEqual([3, 1]);
    expect([...compressed.joinAhead({ texts: false })]).toEqual([]);
    expect([...plain.joinAhead({ texts: true })]).toEqual([]);
    expect(textOf(compressed.page('text'))).toBe(textOf(plain.page('text')));
  });

  it('joins the texts of what was joined without them, once somebody asks for them', () => {
    const exposition = given();
    for (const part of ['a', 'b']) put(exposition, 'lb-1', part, (emit) => emit.sample(calls, { code: part }, 1));
    for (const _ of exposition.joinAhead({ texts: false }));
    const before = textMemories(exposition, ['a', 'b']);

    for (const _ of exposition.joinAhead({ texts: true }));

    expect([before, textMemories(exposition, ['a', 'b'])]).toEqual([2, 1]);
  });

  it('of one appliance joins nothing of the others, and leaves nothing of it', () => {
    const exposition = given();
    for (const appliance of ['lb-1', 'lb-2']) put(exposition, appliance, 'a', fillEverything);

    const families = new Set(exposition.chunks('lb-1', 'a').map(({ family }) => family)).size;

    expect([...exposition.joinAheadOf('lb-1')]).toHaveLength(families);
    expect([...exposition.joinAheadOf('lb-1')]).toEqual([]);
    expect([...exposition.joinAheadOf('lb-2')]).toHaveLength(families);
  });
});

it('is had finished for one appliance: the same bytes in one piece', () => {
  const exposition = given();
  for (const appliance of ['lb-1', 'lb-2']) put(exposition, appliance, 'a', fillEverything);
  const page = exposition.page('text', new Set(['lb-1']));

  const finished = exposition.finishedPage('lb-1', { format: 'text', compressed: true });

  expect([page.packed.length > 1, finished.packed.length]).toEqual([true, 1]);
  expect([unpacked(finished), textOf(finished)]).toEqual([unpacked(page), textOf(page)]);
  expect(textOf(exposition.finishedPage('lb-9', { format: 'text', compressed: false }))).toBe('');
});

describe.skipIf(!isThere('promtool'))('promtool', () => {
  it('has nothing to say about a page, not even with labels that mean harm', () => {
    const exposition = given();
    for (const each of ['lb-1', 'lb-2']) {
      put(exposition, each, 'a', (emit) => {
        fillEverything(emit);
        for (const code of ['"', '\\', '\\"', '\\n', 'a\nb', '}', '{code="200"} 1', '\ud800', '🏠', ' '.repeat(300)])
          emit.sample(calls, { code }, 1);
      });
    }

    const { status, stdout, stderr } = feed('promtool', ['check', 'metrics'], exposition.page('text').text);

    expect({ status, stdout: stdout.toString(), stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

function given(): Exposition {
  return createExposition({ families, appliances: ['lb-1', 'lb-2', 'lb-3'] });
}

function fillEverything(emit: Emit): void {
  emit.sample(up, {}, 1);
  emit.sample(calls, { code: '200' }, 1);
  emit.histogram(seconds, {}, { buckets: [[1, 1]], sum: 0.5, count: 1 });
}

function put(exposition: Exposition, appliance: string, part: string, fill: (emit: Emit) => void): void {
  const { families } = renderSamples(appliance, fill);
  exposition.show(appliance, part, families);
}

/** In how many memories the texts of these parts of lb-1 lie: one, once they are joined. */
function textMemories(exposition: Exposition, parts: readonly string[]): number {
  return new Set(parts.flatMap((part) => exposition.chunks('lb-1', part)).map(({ text }) => text.memory)).size;
}

function textOf(page: Page): string {
  return Buffer.concat(page.texts).toString();
}

function unpacked(page: Page): string {
  return gunzipSync(Buffer.concat(gzipMember(page.packed))).toString();
}

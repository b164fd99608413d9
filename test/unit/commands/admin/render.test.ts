import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { maxLines, printLines, renderJson, renderText } from '../../../../src/commands/admin/render.ts';
import { pairLines, tableLines } from '../../../../src/commands/table.ts';

function shown(value: unknown): string {
  return renderJson(value).join('\n');
}

it('a rendered response shows a list of any name as a table', () => {
  const farms = [
    { status: 'up', farmname: 'shop', vport: '443' },
    { status: 'needed restart', farmname: 'db', vport: 5432 },
  ];

  const lines = shown({ description: 'Farms', params: farms });

  expect(lines).toBe(shown({ description: 'Farms', farms }));
  expect(lines).toMatchInlineSnapshot(`
    "farmname  status          vport
    shop      up              443
    db        needed restart  5432"
  `);
});

it('a rendered response shows a nested object as a separate section', () => {
  const lines = shown({
    description: 'A farm',
    params: { certlist: [{ file: 'shop.pem', id: 1 }], status: 'up', ttl: null },
    services: [{ backends: [{ id: 0, ip: '10.0.0.1', alias: '' }], id: 'front', vhost: '' }],
  });

  expect(lines).toMatchInlineSnapshot(`
    "params
    status  up
    ttl     -

    params › certlist
    file      id
    shop.pem  1

    services
    id
    front

    services › front › backends
    id  ip
    0   10.0.0.1"
  `);
});

it.each([
  [{ description: 'x', message: 'The backup is made.', success: 'true' }, 'The backup is made.'],
  [{ description: 'x', message: 'Done.', warning: 'Sessions stay.' }, 'Warning: Sessions stay.\nDone.'],
  [{ description: 'x', params: 'weekly' }, 'weekly'],
  [{ description: 'x', params: null }, '(nothing)'],
  [{ params: [] }, '(none)'],
  [{ log: ['first', 'second'] }, 'first\nsecond'],
  [[1, 2], '1\n2'],
  [{ params: { names: ['a', 'b'], deep: { list: [[1]] } } }, 'names  a, b\n\ndeep\nlist  [[1]]'],
])('a rendered response shows %j', (answer, lines) => {
  expect(shown(answer)).toBe(lines);
});

it('a rendered response contains no terminal controls', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('a', '\u001b', '\u009b', '\n', '\r', '\b', '\u202e', '\u2028', '\t'),
  });
  const answers = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile), fc.array(fc.dictionary(hostile, hostile)))),
  );

  fc.assert(
    fc.property(answers, (answer) => {
      for (const line of renderJson(answer)) expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    }),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      for (const line of renderText(text)) expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    }),
  );
});

it.each([
  ['a list of rows', { params: Array.from({ length: 130_000 }, (_, id) => ({ id, v: 'x' })) }],
  ['a list of words', { params: Array.from({ length: 130_000 }, String) }],
  ['one object', { params: Object.fromEntries(Array.from({ length: 130_000 }, (_, id) => [`n${id}`, 'x'])) }],
  ['rows with rows in them', { params: Array.from({ length: 20_000 }, (_, id) => ({ id, in: [{ a: 1 }] })) }],
  [
    'rows of which each has a field of its own',
    { params: Array.from({ length: 20_000 }, (_, id) => ({ [`n${id}`]: 1 })) },
  ],
])('a rendered response stops a few lines after the shown ones for endless %s', (_name, answer) => {
  const lines = renderJson(answer);

  expect(lines.length).toBeGreaterThan(maxLines);
  expect(lines.length).toBeLessThan(maxLines + 10);
});

it.each([
  ['lists', '['.repeat(50_000) + ']'.repeat(50_000)],
  ['objects', '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000)],
  ['tables', '[{"a":'.repeat(50_000) + '1' + '}]'.repeat(50_000)],
  ['lists in a cell', `[{"id":1,"deep":${'['.repeat(50_000)}${']'.repeat(50_000)}}]`],
])('a rendered response ends with … for deeply nested %s', (_name, deep) => {
  const lines = renderJson(JSON.parse(`{"params":{"deep":${deep},"status":"up"}}`));

  expect(lines.join('\n')).toContain('…');
  expect(lines.join('\n')).toMatch(/^status +up$/m);
  expect(lines.join('\n').length).toBeLessThan(5_000);
});

it('a rendered response states the number of omitted columns', () => {
  const rows = [Object.fromEntries(Array.from({ length: 70 }, (_, id) => [`n${id}`, 'x']))];

  expect(renderJson({ params: rows }).at(-1)).toBe('… and 6 more columns');
});

it('a rendered response keeps the lines of a text, with spaces instead of tabs', () => {
  expect(renderText('Subject:\tCN=shop\r\n  Issuer\n')).toEqual(['Subject:    CN=shop', '  Issuer']);
});

it('a table truncates long values in all columns but the last', () => {
  const [, row = ''] = tableLines(['a', 'b'], [['x'.repeat(200), 'y'.repeat(200)]]);

  expect(row).toBe(`${'x'.repeat(79)}…  ${'y'.repeat(200)}`);
});

it('a table has no spaces at line ends', () => {
  expect(tableLines(['name', 'note'], [['shop', '']])).toEqual(['name  note', 'shop']);
  expect(pairLines([['name', '']])).toEqual(['name']);
});

it.each([
  [maxLines, []],
  [maxLines + 1, [expect.stringMatching(/only the first 10000 lines .*--json .*--output=FILE/)]],
])('a rendered response of %i lines is limited to what a person reads, with a note about the rest', (count, note) => {
  const said: string[] = [];
  const warned: string[] = [];
  const lines = Array.from({ length: count }, (_, index) => String(index));

  printLines(lines, { printOut: (line) => said.push(line), printErr: (line) => warned.push(line) });

  expect(said).toEqual(lines.slice(0, maxLines));
  expect(warned).toEqual(note);
});

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { problemsOf } from '../../../src/admin/body-problems.ts';
import { createDiscovery, type ParameterDescriptor } from '../../../src/admin/discovery.ts';
import { createOperations } from '../../../src/admin/operation.ts';
import type { AdminProblem } from '../../../src/admin/problem.ts';
import { type EndpointKey, endpoints } from '../../../src/appliance/endpoints/table.ts';
import type { EndpointRow } from '../../../src/appliance/endpoints/row.ts';
import { ApplianceError } from '../../../src/appliance/errors.ts';
import type { RelayRequest } from '../../../src/appliance/relay.ts';
import { ownRecordings, readExchanges } from '../../support/recordings.ts';

const patient = new AbortController().signal;
const operations = createOperations();

function callOf(key: EndpointKey) {
  const operation = operations.named(key)!;
  const names = [...operation.template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => [name, 'x']);
  return operations.call(operation, Object.fromEntries(names))!;
}

/** What comes of asking for the parameters of a call when the appliance answers this, and what was sent. */
async function discover(
  answer: unknown,
  { status = 400, key = 'actOnFarm' }: { status?: number; key?: EndpointKey } = {},
) {
  const sent: RelayRequest[] = [];
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const discovery = createDiscovery({
    send(request) {
      sent.push(request);
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({ status, headers: {}, body: Readable.from([Buffer.from(text)]) });
    },
  });
  const outcome = await discovery.discover(callOf(key), patient).then(
    (discovered) => ({ discovered, problem: undefined }),
    (problem: AdminProblem) => ({ discovered: undefined, problem }),
  );
  return { ...outcome, sent };
}

const action = { name: 'action', options: ['non_blank', 'required'], possible_values: ['stop', 'start', 'restart'] };

describe('asking for parameters', () => {
  it('sends an empty object by the verb and path of the call itself', async () => {
    const { sent } = await discover({ params: [] });

    expect(sent).toMatchObject([
      { method: 'PUT', path: '/farms/x/actions', contentType: 'application/json', contentLength: 2 },
    ]);
    expect(sent[0]?.body).toEqual(Buffer.from('{}'));
  });

  it('sends nothing to a call whose body is a file, which would be stored', async () => {
    const rows = Object.entries(endpoints) as readonly [EndpointKey, EndpointRow][];
    const others = rows.filter(([, { body }]) => body !== 'json');

    for (const [key] of others) {
      const { sent, problem } = await discover({ params: [] }, { key });

      expect(sent, key).toEqual([]);
      expect(problem, key).toMatchObject({ name: 'AdminProblem', code: 'unknown_path' });
    }
    expect(others.map(([, { body }]) => body)).toEqual(expect.arrayContaining(['none', 'text', 'pem', 'gzip']));
  });

  it('understands the appliance that was recorded', async () => {
    const exchange = readExchanges(ownRecordings).find(({ name }) => name === '440-err-post-farms-empty-object')!;

    const { discovered } = await discover(exchange.response.body, { key: 'createFarm' });

    expect(
      discovered?.parameters.map(({ name, required, nonBlank, list }) => [name, required, nonBlank, list]),
    ).toEqual([
      ['profile', true, true, false],
      ['vport', false, true, false],
      ['farmname', true, true, false],
      ['vip', true, false, false],
      ['copy_from', false, true, false],
    ]);
    expect(discovered?.parameters[0]?.possibleValues).toEqual(['http', 'gslb', 'l4xnat', 'datalink', 'eproxy']);
  });

  it.each([
    ['the newest release', 400, { description: 'Act', message: 'Nothing was sent.', params: [action] }],
    ['early builds, without a message', 400, { description: 'Act', params: [action] }],
    ['a build that takes it for a success', 200, { description: 'Act', params: [action] }],
  ])('understands %s', async (_, status, answer) => {
    expect((await discover(answer, { status })).discovered).toEqual({
      description: 'Act',
      parameters: [
        {
          name: 'action',
          required: true,
          nonBlank: true,
          possibleValues: ['stop', 'start', 'restart'],
          list: false,
        },
      ],
    });
  });

  it('keeps what else is said of a parameter, and leaves out what is none', async () => {
    const params = [
      { name: 'ip', format: 'ip_addr', interval: 'From 1 to 9.', description: 'An\naddress.', ref: 'ARRAY' },
      { name: 'listen', ref: 'array|none', possible_values: [1, 2], options: 'required' },
      { options: ['required'] },
      'ip',
      null,
    ];

    expect((await discover({ params })).discovered).toEqual({
      description: '',
      parameters: [
        {
          name: 'ip',
          required: false,
          nonBlank: false,
          interval: 'From 1 to 9.',
          format: 'ip_addr',
          description: 'An address.',
          list: true,
        },
        { name: 'listen', required: false, nonBlank: false, possibleValues: ['1', '2'], list: 'optional' },
      ],
    });
  });

  it.each([
    [
      404,
      { error: 'true', message: 'There is no farm x.' },
      'answered 404 instead of the parameters of PUT /farms/{farmname}/actions: There is no farm x.',
    ],
    [
      402,
      { message: 'No licence.', certificate_key: 'canary' },
      'answered 402 instead of the parameters of PUT /farms/{farmname}/actions: No licence.',
    ],
    [400, { error: 'true', message: 'No.', params: 'none' }, 'answered 400 instead'],
    [404, { params: [action] }, 'answered 404 instead'],
    [500, '<html>', 'answered 500 instead of the parameters of PUT /farms/{farmname}/actions: without a message.'],
    [200, '[]', 'answered 200 instead'],
    [200, 'null', 'answered 200 instead'],
  ])('takes %i with %j for no list of parameters', async (status, answer, says) => {
    const { problem } = await discover(answer, { status });

    expect(problem).toMatchObject({ name: 'AdminProblem', code: 'upstream_malformed' });
    expect(problem?.message).toContain(says);
    expect(problem?.message).not.toContain('canary');
  });

  it.each([
    [401, 'upstream_unauthorized'],
    [302, 'upstream_redirect'],
  ])('does not read on after %i', async (status, code) => {
    expect((await discover({ params: [action] }, { status })).problem).toMatchObject({ code });
  });

  it('gives up on an answer that is longer than any list', async () => {
    expect((await discover(`{"params":[${' '.repeat(1_048_576)}]}`)).problem).toMatchObject({
      code: 'upstream_oversize',
    });
  });

  it('says so when nobody answers', async () => {
    const error = new ApplianceError('connect', { endpoint: '/farms/x/actions', message: 'connect ECONNREFUSED' });

    expect((await discover(error)).problem).toMatchObject({
      code: 'upstream_unreachable',
      message: 'The appliance: connect ECONNREFUSED.',
    });
  });
});

/** A parameter of which nothing is said but this. */
const a = (parts: Partial<ParameterDescriptor> = {}): ParameterDescriptor => ({
  name: 'a',
  required: false,
  nonBlank: false,
  list: false,
  ...parts,
});
const problemsWith = (value: unknown, parts: Partial<ParameterDescriptor>) => problemsOf({ a: value }, [a(parts)]);

describe('the problems of a body', () => {
  it('are none when everything fits', () => {
    const parameters = [a({ required: true, possibleValues: ['x'] }), a({ name: 'b', interval: 'Between 1 and 9.' })];

    expect(problemsOf({ a: 'x', b: '9' }, parameters)).toEqual([]);
  });

  it('are what is missing, what is unknown, and what is wrong', () => {
    const parameters = [a({ required: true }), a({ name: 'c', required: true }), a({ name: 'b', nonBlank: true })];

    expect(problemsOf({ b: '', z: 1 }, parameters)).toEqual([
      'a is required and not there.',
      'c is required and not there.',
      'b must not be empty.',
      'z is not a parameter of this call, which takes a, b, c.',
    ]);
  });

  it('are that there is nothing, even where nothing is required', () => {
    expect(problemsOf({}, [a()])).toEqual(['At least one parameter must be sent.']);
    expect(problemsOf({}, [a({ required: true })])).toEqual(['a is required and not there.']);
  });

  it('are unknown where nothing is described', () => {
    expect(problemsOf({ key: 'x' }, [])).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('take %s for a name like any other', (name) => {
    const body = JSON.parse(`{"${name}":1}`) as Record<string, unknown>;

    expect(problemsOf(body, [a()])).toEqual([`${name} is not a parameter of this call, which takes a.`]);
    expect(problemsOf({}, [a({ name, required: true })])).toEqual([`${name} is required and not there.`]);
  });

  it.each([
    [true, 'a is a JSON true; send the text "true".'],
    [false, 'a is a JSON false; send the text "false".'],
  ])('are a JSON %j', (value, problem) => {
    expect(problemsWith(value, {})).toEqual([problem]);
  });

  it.each([
    ['', true, ['a must not be empty.']],
    [null, true, ['a must not be empty.']],
    ['', false, []],
    [null, false, []],
    [0, true, []],
  ])('for %j where non_blank is %j are %j', (value, nonBlank, problems) => {
    expect(problemsWith(value, { nonBlank, possibleValues: ['0'] })).toEqual(problems);
  });

  it.each([
    ['start', []],
    [1, []],
    ['Start', ['a is one of 1, start.']],
    ['canary-password', ['a is one of 1, start.']],
  ])('for %j among start and 1 are %j, without saying the value', (value, problems) => {
    expect(problemsWith(value, { possibleValues: ['start', '1'] })).toEqual(problems);
  });

  it.each([
    [['x', 'x'], true, []],
    [['x', 'y'], true, ['a is one of x.']],
    ['x', true, ['a takes a list.']],
    [['x'], false, ['a takes one value, not a list.']],
    [['x'], 'optional', []],
    ['x', 'optional', []],
    ['y', 'optional', ['a is one of x.']],
    [[], true, []],
  ] as const)('for %j where a list is %j are %j', (value, list, problems) => {
    expect(problemsWith(value, { list, possibleValues: ['x'] })).toEqual(problems);
  });

  it('leave the inside of an object to the appliance', () => {
    expect(problemsWith({ hour: true }, { possibleValues: ['x'] })).toEqual([]);
  });
});

describe('an interval', () => {
  it.each([
    ['A whole number between 1 and 9.', [1, '9', 5], [0, 10, '10']],
    ["Expects a value between '1' and '65535'", [1, 65_535], [0, 65_536]],
    ['1..9', [1, 9], [0, 10]],
    ['A whole number from 0.', [0, 99_999], [-1, 'x']],
    ['It must be greater than or equal to 5', [5, 6], [4]],
    ['The low limit is 5', [5], [4]],
    ['It is 10 at most', [10, -3], [11]],
    ['lower than 2.5', [2.5, '2'], ['2.51']],
    ['from -5 to 5', [-5, 5], [-6]],
  ])('is understood as it is written: %s', (interval, inside, outside) => {
    expect(inside.flatMap((value) => problemsWith(value, { interval }))).toEqual([]);
    expect(outside.flatMap((value) => problemsWith(value, { interval }))).toHaveLength(outside.length);
  });

  it.each(['1e2', '0x10', '١', '1,5', ' 5', 'five', '1.', '--1'])('holds no number that is written %j', (value) => {
    expect(problemsWith(value, { interval: 'between 0 and 9' })).toEqual(['a is out of its limits: between 0 and 9.']);
  });

  it.each(['A port', 'one of 1, 2 or 3', 'about 7', 'at least 3 and at most', 'between 9 and 1', ''])(
    'that says %j is left to the appliance',
    (interval) => {
      expect(problemsWith('whatever', { interval })).toEqual([]);
    },
  );
});

describe('a format', () => {
  it.each([
    ['ip_addr', ['192.0.2.1', '2001:db8::1'], ['192.0.2.256', 'lb', '192.0.2.1/24']],
    ['ipv4', ['192.0.2.1'], ['2001:db8::1']],
    ['ipv6', ['2001:db8::1'], ['192.0.2.1']],
    ['port', ['1', 65_535], ['0', '65536', '080', '80,81']],
    ['farm_name', ['web-1'], ['web_1', 'web 1']],
    ['[a-z]+', ['abc'], ['abc1', '1abc', 'ABC']],
    ['(?:a|b)-\\d{2}', ['a-12'], ['a-123', 'c-12']],
  ])('%s is checked', (format, fitting, others) => {
    expect(fitting.flatMap((value) => problemsWith(value, { format }))).toEqual([]);
    expect(others.flatMap((value) => problemsWith(value, { format }))).toEqual(
      others.map(() => `a does not look like ${format}.`),
    );
  });

  it.each([
    ['is a word that is not known', 'cipher_suite'],
    ['is a word that every object knows', 'constructor'],
    ['is a pattern of Perl alone', '\\A[a-z]++\\z'],
    ['is no pattern', '[a-'],
    ['could be kept busy by nested repeats', '(a+)+b'],
    ['could be kept busy by repeats one after another', 'a?a?a?a?aaaa'],
    ['is longer than any real one', 'a'.repeat(201)],
  ])('is not checked when it %s', (_, format) => {
    expect(problemsWith('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', { format })).toEqual([]);
  });

  it('takes no time worth mentioning, whatever pattern is let through', () => {
    const startedAt = performance.now();

    for (const format of ['.*.*.*x', '(?:\\w*|\\d*)\\w*!', '[a-z]{0,99}[a-z]{0,99}[a-z]{0,99}!'])
      problemsWith('a'.repeat(256), { format });

    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

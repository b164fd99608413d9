import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discover, type ParameterDescriptor, validationProblems } from '../../../../src/admin/calls/discovery.ts';
import { createOperations } from '../../../../src/admin/policy/operation.ts';
import { AdminProblem } from '../../../../src/admin/policy/problem.ts';
import { type EndpointKey, endpoints } from '../../../../src/appliance/api/table.ts';
import type { EndpointRow } from '../../../../src/appliance/api/row.ts';
import { ApplianceError } from '../../../../src/appliance/errors.ts';
import type { ApplianceSession } from '../../../../src/admin/calls/session.ts';
import { ownRecordings, readExchanges } from '../../../support/recordings.ts';

const patient = new AbortController().signal;
const operations = createOperations();

function callOf(key: EndpointKey) {
  const operation = operations.get(key)!;
  const names = [...operation.template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => [name, 'x']);
  return operations.toCall(operation.operationId, Object.fromEntries(names))!;
}

/** Asks for the parameters of a call; returns the result for this answer, and the request. */
async function discovering(
  answer: unknown,
  { status = 400, key = 'actOnFarm' }: { status?: number; key?: EndpointKey } = {},
) {
  const sent: Parameters<ApplianceSession['send']>[0][] = [];
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const session: Pick<ApplianceSession, 'send' | 'signal'> = {
    signal: patient,
    send(request) {
      sent.push(request);
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({ status, headers: {}, body: Readable.from([Buffer.from(text)]) });
    },
  };
  const outcome = await discover(session, callOf(key)).then(
    (discovered) => ({ discovered, problem: undefined }),
    (problem: AdminProblem) => ({ discovered: undefined, problem }),
  );
  return { ...outcome, sent };
}

const action = { name: 'action', options: ['non_blank', 'required'], possible_values: ['stop', 'start', 'restart'] };

it('parameter discovery sends an empty object with the verb and path of the call', async () => {
  const { sent } = await discovering({ params: [] });

  expect(sent).toMatchObject([
    { method: 'PUT', path: '/farms/x/actions', contentType: 'application/json', contentLength: 2 },
  ]);
  expect(sent[0]?.body).toEqual(Buffer.from('{}'));
});

it('parameter discovery sends nothing to a call with a file as its body, because the file would be stored', async () => {
  const rows = Object.entries(endpoints) as readonly [EndpointKey, EndpointRow][];
  const others = rows.filter(([, { body }]) => body !== 'json');

  for (const [key] of others) {
    const { sent, problem } = await discovering({ params: [] }, { key });

    expect(sent, key).toEqual([]);
    expect(problem, key).toMatchObject({ name: 'AdminProblem', code: 'unknown_path' });
  }
  expect(others.map(([, { body }]) => body)).toEqual(expect.arrayContaining(['none', 'text', 'pem', 'gzip']));
});

it('parameter discovery parses the response of a recorded appliance', async () => {
  const exchange = readExchanges(ownRecordings).find(({ name }) => name === '440-err-post-farms-empty-object')!;

  const { discovered } = await discovering(exchange.response.body, { key: 'createFarm' });

  expect(
    discovered?.parameters.map(({ name, required, non_blank, list }) => [name, required, non_blank, list]),
  ).toEqual([
    ['profile', true, true, false],
    ['vport', false, true, false],
    ['farmname', true, true, false],
    ['vip', true, false, false],
    ['copy_from', false, true, false],
  ]);
  expect(discovered?.parameters[0]?.possible_values).toEqual(['http', 'gslb', 'l4xnat', 'datalink', 'eproxy']);
});

it.each([
  ['the newest release', 400, { description: 'Act', message: 'Nothing was sent.', params: [action] }],
  ['early builds, without a message', 400, { description: 'Act', params: [action] }],
  ['a build that answers with a success', 200, { description: 'Act', params: [action] }],
])('parameter discovery parses %s', async (_, status, answer) => {
  expect((await discovering(answer, { status })).discovered).toEqual({
    description: 'Act',
    parameters: [
      {
        name: 'action',
        required: true,
        non_blank: true,
        possible_values: ['stop', 'start', 'restart'],
        list: false,
      },
    ],
  });
});

it('parameter discovery keeps the other properties of a parameter, and skips invalid entries', async () => {
  const params = [
    { name: 'ip', format: 'ip_addr', interval: 'From 1 to 9.', description: 'An\naddress.', ref: 'ARRAY' },
    { name: 'listen', ref: 'array|none', possible_values: [1, 2], options: 'required' },
    { options: ['required'] },
    'ip',
    null,
  ];

  expect((await discovering({ params })).discovered).toEqual({
    description: '',
    parameters: [
      {
        name: 'ip',
        required: false,
        non_blank: false,
        interval: 'From 1 to 9.',
        format: 'ip_addr',
        description: 'An address.',
        list: true,
      },
      { name: 'listen', required: false, non_blank: false, possible_values: ['1', '2'], list: 'optional' },
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
])('parameter discovery does not accept %i with %j as a list of parameters', async (status, answer, says) => {
  const { problem } = await discovering(answer, { status });

  expect(problem).toMatchObject({ name: 'AdminProblem', code: 'upstream_malformed' });
  expect(problem?.message).toContain(says);
  expect(problem?.message).not.toContain('canary');
});

it.each([
  [401, 'upstream_unauthorized'],
  [302, 'upstream_redirect'],
])('parameter discovery stops reading after %i', async (status, code) => {
  expect((await discovering({ params: [action] }, { status })).problem).toMatchObject({ code });
});

it('parameter discovery refuses a response that is longer than any list', async () => {
  expect((await discovering(`{"params":[${' '.repeat(1_048_576)}]}`)).problem).toMatchObject({
    code: 'upstream_oversize',
  });
});

it('parameter discovery reports that the appliance does not respond', async () => {
  const error = new ApplianceError('connect', { endpoint: '/farms/x/actions', message: 'connect ECONNREFUSED' });

  expect((await discovering(error)).problem).toMatchObject({
    code: 'upstream_unreachable',
    message: 'The appliance: connect ECONNREFUSED.',
  });
});

/** A parameter of which nothing is said but this. */
const a = (parts: Partial<ParameterDescriptor> = {}): ParameterDescriptor => ({
  name: 'a',
  required: false,
  non_blank: false,
  list: false,
  ...parts,
});

describe('the check of a body against its parameters', () => {
  it('names missing, empty and unknown parameters', () => {
    const parameters = [a({ required: true }), a({ name: 'c', required: true }), a({ name: 'b', non_blank: true })];

    expect(validationProblems({ b: '', z: 1 }, parameters)).toEqual([
      'a is required and not there.',
      'c is required and not there.',
      'b must not be empty.',
      'z is not a parameter of this call, which takes a, b, c.',
    ]);
    expect(validationProblems({ y: 1, z: 1 }, [a(), a({ name: 'b' })])).toEqual([
      'y, z are not parameters of this call, which takes a, b.',
    ]);
  });

  it('reports an empty body, even if nothing is required', () => {
    expect(validationProblems({}, [a()])).toEqual(['At least one parameter must be sent.']);
    expect(validationProblems({}, [a({ required: true })])).toEqual(['a is required and not there.']);
  });

  it('is skipped if nothing is described', () => {
    expect(validationProblems({ key: 'x' }, [])).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('treats %s like any other name', (name) => {
    const body = JSON.parse(`{"${name}":1}`) as Record<string, unknown>;

    expect(validationProblems(body, [a()])).toEqual([`${name} is not a parameter of this call, which takes a.`]);
    expect(validationProblems({}, [a({ name, required: true })])).toEqual([`${name} is required and not there.`]);
  });

  it.each<[value: unknown, parts: Partial<ParameterDescriptor>, problems: readonly string[]]>([
    [true, {}, ['a is a JSON true; send the text "true".']],
    [false, {}, ['a is a JSON false; send the text "false".']],
    ['', { non_blank: true }, ['a must not be empty.']],
    [null, { non_blank: true }, ['a must not be empty.']],
    ['', {}, []],
    [null, {}, []],
    [0, { non_blank: true, possible_values: ['0'] }, []],
    ['x', { required: true, possible_values: ['x'] }, []],
    [1, { possible_values: ['x', '1'] }, []],
    ['X', { possible_values: ['x', '1'] }, ['a is one of 1, x.']],
    ['canary-password', { possible_values: ['x', '1'] }, ['a is one of 1, x.']],
    [['x', 'x'], { list: true, possible_values: ['x'] }, []],
    [['x', 'y'], { list: true, possible_values: ['x'] }, ['a is one of x.']],
    ['x', { list: true, possible_values: ['x'] }, ['a takes a list.']],
    [['x'], { possible_values: ['x'] }, ['a takes one value, not a list.']],
    [['x'], { list: 'optional', possible_values: ['x'] }, []],
    ['x', { list: 'optional', possible_values: ['x'] }, []],
    ['y', { list: 'optional', possible_values: ['x'] }, ['a is one of x.']],
    [[], { list: true, possible_values: ['x'] }, []],
    // The inside of an object, sentences and patterns are for the appliance alone.
    [{ hour: true }, { possible_values: ['x'] }, []],
    ['99', { interval: 'A whole number between 1 and 9.' }, []],
    ['99', { format: 'port' }, []],
    ['99', { format: '(a+)+' }, []],
  ])('reports for %j with %j the problems %j, without the value', (value, parts, problems) => {
    expect(validationProblems({ a: value }, [a(parts)])).toEqual(problems);
  });
});

describe('a hostile list of parameters', () => {
  const parametersOf = async (params: unknown) => (await discovering({ params })).discovered?.parameters;

  it('accepts only texts and numbers as possible values', async () => {
    const odd = [{ toString: 1, valueOf: 1 }, [['a']], null, true, 'a', 2, Infinity];

    expect(await parametersOf([{ name: 'a', possible_values: odd }])).toMatchObject([{ possible_values: ['a', '2'] }]);
  });

  it.each([
    ['nothing that has a text', [{ toString: 1, valueOf: 1 }]],
    ['nothing at all', []],
    ['too many', Array(100_000).fill('a')],
    ['something that is not a list', { length: 1, 0: 'a' }],
  ])('has no possible values when they are %s', async (_, values) => {
    expect(await parametersOf([{ name: 'a', possible_values: values }])).toEqual([
      { name: 'a', required: false, non_blank: false, list: false },
    ]);
  });

  it.each([1, null, {}, ['a'], '', 'a'.repeat(129)])('skips a parameter with the name %j', async (name) => {
    expect(await parametersOf([{ name }])).toEqual([]);
  });

  it('is refused when it is longer than any body', async () => {
    const { problem } = await discovering({ params: Array.from({ length: 501 }, () => ({ name: 'a' })) });

    expect(problem).toMatchObject({ code: 'upstream_malformed' });
    expect(problem?.message).toContain('with 501 parameters, more than any call takes');
  });

  it('is parsed or refused, whatever its content', async () => {
    const name = fc.constantFrom('a', '__proto__', 'constructor', 'toString', 'length');
    const odd = fc.oneof(fc.jsonValue(), fc.constant({ toString: 1, valueOf: 1 }), fc.array(fc.jsonValue()));
    const keys = ['options', 'possible_values', 'interval', 'format', 'description', 'ref'] as const;
    const param = fc.record(
      { name: fc.oneof(name, odd), ...Object.fromEntries(keys.map((key) => [key, odd])) },
      { requiredKeys: [] },
    );
    const params = fc.oneof(odd, fc.array(fc.oneof(param, odd), { maxLength: 8 }));
    const body = fc.dictionary(fc.oneof(name, fc.string()), odd);

    await fc.assert(
      fc.asyncProperty(params, odd, body, async (list, description, fields) => {
        const { discovered, problem } = await discovering({ params: list, description });
        if (!discovered) return problem instanceof AdminProblem;
        return validationProblems(fields, discovered.parameters).every((sentence) => typeof sentence === 'string');
      }),
    );
  });
});

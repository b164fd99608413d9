import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkResponse } from '../../src/appliance/response.ts';
import type { EndpointRow } from '../../src/appliance/api/row.ts';
import { endpointRows, endpoints } from '../../src/appliance/api/table.ts';
import { createBodyScrubber } from '../../src/appliance/api-key.ts';
import { withLengthOf } from '../../src/appliance/reply-bounds.ts';
import { Secret } from '../../src/lib/secret.ts';
import { fuzzing } from '../support/fuzz.ts';
import { damageJson, damages } from './damaged-json.ts';
import { misfit } from './fits-schema.ts';
import { recordedReplies } from './recorded-replies.ts';

const replies = recordedReplies();
const scrubBody = createBodyScrubber([new Secret('kQ7wXr2mZp9sVt4n')]);

it('the replies to damage are of every decoded kind, and valid as they are', () => {
  const decoded = endpointRows.filter(([, row]) => row.reply).map(([key]) => key);

  expect([...new Set(replies.map(({ key }) => key))].toSorted()).toEqual(decoded.toSorted());
  for (const { key, text } of replies) expect(judge(key, text), key).toHaveProperty('value');
});

describe('a damaged reply', () => {
  const damaged = fc.constantFrom(...replies).chain(({ key, text }) => {
    const bodies = fc.oneof(
      { weight: 8, arbitrary: damages.map((list) => damageJson(text, list)) },
      { weight: 1, arbitrary: fc.json() },
    );
    return fc.record({ key: fc.constant(key), body: bodies });
  });

  it('is decoded into what its schema promises, without invented values, or is malformed', () => {
    fc.assert(
      fc.property(damaged, ({ key, body }) => {
        const verdict = judge(key, body);

        if ('reason' in verdict) {
          expect(verdict.reason).toBe('malformed');
        } else {
          // Nothing is read of a list of sessions, so nothing is wrong with it.
          const before: unknown = isText(key) ? body : JSON.parse(withLengthOf('sessions', body));
          expect(misfit(schemaOf(key), before, verdict.value)).toBeUndefined();
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      }),
      fuzzing('replies'),
    );
  });
});

function judge(key: (typeof replies)[number]['key'], body: string) {
  const mediaType = isText(key) ? 'text/plain' : 'application/json';
  const expected = { schema: schemaOf(key), maxValues: 100_000 };
  return checkResponse({ status: 200, mediaType, text: scrubBody(body) }, expected);
}

function schemaOf(key: (typeof replies)[number]['key']) {
  const { reply }: EndpointRow = endpoints[key];
  if (!reply) throw new Error(`${key} is not decoded`);
  return reply;
}

function isText(key: (typeof replies)[number]['key']): boolean {
  const schema = schemaOf(key);
  return 'type' in schema && schema.type === 'string';
}

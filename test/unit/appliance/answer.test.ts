import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { checkAnswer } from '../../../src/appliance/answer.ts';
import { createDecoder } from '../../../src/appliance/decode.ts';

const expected = { schema: Type.Object({}), maxValues: 10 };

it('quotes only the beginning of a message of megabytes', () => {
  const text = JSON.stringify({ message: 'no\n'.repeat(1_000_000) });

  const verdict = checkAnswer({ status: 500, mediaType: 'application/json', text }, expected, createDecoder());

  expect(verdict).toMatchObject({
    reason: 'server_error',
    because: expect.stringMatching(/^the appliance answered 500: no/),
  });
  expect(JSON.stringify(verdict).length).toBeLessThan(2_000);
});

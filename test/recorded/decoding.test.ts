import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { checkResponse, isForeign404, isMissingRoute, mediaTypeOf } from '../../src/appliance/response.ts';
import { misfit } from '../fuzz/fits-schema.ts';
import {
  decodedCall,
  type Exchange,
  hasRecordings,
  readExchanges,
  recordedHeader,
  recordedProducts,
  textOf,
} from '../support/recordings.ts';

describe.each(recordedProducts)('the recorded responses of $product', ({ product, clone, beside }) => {
  it('are decoded as sent, or refused for a reason, from the exchanges in this clone', async () => {
    await expect(verdicts(clone)).toMatchFileSnapshot(`../golden/decoded-${product}.txt`);
  });

  if (!hasRecordings(beside)) console.warn(`NOT RUN: the full recordings of ${product}, which are not here`);
  it.skipIf(!hasRecordings(beside))('are decoded the same way from the full recordings', async () => {
    await expect(verdicts(beside)).toMatchFileSnapshot(`../golden/decoded-${product}.txt`);
  });
});

/** One line for each answer of a decoded call; an answer that does not fit fails the test. */
function verdicts(directory: string): string {
  const lines = readExchanges(directory).flatMap((exchange) => {
    const call = decodedCall(exchange);
    return call ? [`${exchange.name} ${call.key} ${verdictOn(exchange, call.reply)}\n`] : [];
  });
  return lines.join('');
}

function verdictOn(exchange: Exchange, schema: TSchema): string {
  const { status, headers } = exchange.response;
  const mediaType = mediaTypeOf(recordedHeader(headers, 'content-type'));
  const answer = { status, mediaType, text: textOf(exchange) };
  const checked = checkResponse(answer, { schema, maxValues: 50_000 });
  expect('value' in checked, `${exchange.name} is decoded exactly if it is a 200`).toBe(status === 200);
  if ('value' in checked) {
    expect(misfit(schema, JSON.parse(answer.text), checked.value), exchange.name).toBeUndefined();
    return 'decoded';
  }
  const of404 = isMissingRoute(answer) ? ' by the API' : isForeign404(answer) ? ' by the web server' : '';
  return `${checked.reason}${of404}`;
}

import { expect, it } from 'vitest';
import { sendRaw } from '../support/raw-request.ts';
import { ownRecordings, readExchanges, recordedHeader, wireBody } from '../support/recordings.ts';
import { startReplayServer } from '../support/replay-server.ts';

const base = '/api/v4.0/api.cgi';

it('serves every recorded read back with its bytes and its repeated Date header', async () => {
  const server = await startReplayServer();
  // 001 repeats 000 with another header for the key.
  const reads = readExchanges(ownRecordings).filter(
    ({ name, request }) => name.startsWith('0') && !name.startsWith('001') && request.method === 'GET',
  );

  for (const exchange of reads) {
    const answer = await sendRaw(server.url, exchange.request);

    expect({ name: exchange.name, ...whatCounts(answer.status, answer.headers, answer.body) }).toEqual({
      name: exchange.name,
      ...whatCounts(exchange.response.status, exchange.response.headers, wireBody(exchange)),
    });
  }
  expect(server.requests).toHaveLength(reads.length);
});

it('answers 401 to another key and the 404 of the API to what was never recorded', async () => {
  const server = await startReplayServer();

  const withoutKey = await sendRaw(server.url, { method: 'GET', path: `${base}/farms`, headers: [['Host', 'x']] });
  const unknown = await sendRaw(server.url, {
    method: 'GET',
    path: `${base}/no/such/thing`,
    headers: [
      ['Host', 'x'],
      ['API_KEY', server.apiKey],
    ],
  });

  expect(withoutKey.status).toBe(401);
  expect(unknown.status).toBe(404);
  expect(JSON.parse(unknown.body.toString())).toMatchObject({
    error: 'true',
    message: 'Request not found: /no/such/thing',
  });
});

function whatCounts(status: number, headers: readonly (readonly [string, string])[], body: Buffer) {
  const dates = headers.filter(([name]) => name === 'Date').map(([, value]) => value);
  return { status, type: recordedHeader(headers, 'content-type'), dates, body: body.toString() };
}

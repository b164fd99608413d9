import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { CountedRequest } from '../../../src/lib/counted-request.ts';
import { listening } from '../../support/listening.ts';
import { exchangeRaw } from '../../support/raw-exchange.ts';

const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
const chunks = (count: number, bytes: number): string =>
  `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`.repeat(count);
const end = '0\r\n\r\n';

/** Sends a body to a server, and returns its answer. */
async function answerTo(
  body: string,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<string>,
): Promise<string> {
  const server = createServer({ IncomingMessage: CountedRequest }, (request, response) => {
    void handle(request, response).then((text) => response.end(text));
  });
  const port = await listening(server);
  const { text } = await exchangeRaw(`http://127.0.0.1:${port}`, head + body);
  return text.split('\r\n\r\n').slice(1).join('');
}

const read = async (request: IncomingMessage): Promise<string> => {
  let bytes = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false })) bytes += (part as Buffer).length;
    return `${bytes} bytes`;
  } catch (error) {
    return String(error);
  }
};
const readLater = async (request: IncomingMessage): Promise<string> => {
  await new Promise((resolve) => request.once('close', resolve));
  return await read(request);
};
const tooMany = 'TooManyPartsError: the body came in more than 256 parts with less than 256 bytes each';

it.each([
  ['short, in single bytes', chunks(250, 1) + end, '250 bytes'],
  ['long, in parts of 300 bytes', chunks(3_000, 300) + end, '900000 bytes'],
  ['long, in parts of 200 bytes', chunks(3_000, 200) + end, tooMany],
  ['of single bytes, and never ends', chunks(300, 1), tooMany],
])('a request body that is %s is read or refused as expected', async (_, body, expected) => {
  expect(await answerTo(body, read)).toContain(expected);
});

it('an unread body of single bytes fails as well, is not kept, and its sender gets the response', async () => {
  let kept = Number.NaN;
  const answer = await answerTo(chunks(100_000, 1), async (request) => {
    const text = await readLater(request);
    kept = request.readableLength;
    return text;
  });
  expect(answer).toContain(tooMany);
  expect(kept).toBeLessThanOrEqual(257);
});

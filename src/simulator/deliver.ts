import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { sleep } from '../lib/sleep.ts';
import type { Fault } from './faults.ts';
import { sendHead, type Answer } from './respond.ts';

/** Sends an answer over the wire, damaged as the fault says. */
export async function deliver(
  response: ServerResponse,
  answer: Answer,
  fault: Fault | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (fault?.kind === 'cut') return cut(response, answer);
  if (fault?.kind === 'slow_body') return sendSlowly(response, answer, fault.bytesPerSecond, signal);
  if (fault?.kind === 'huge_body') return sendHuge(response, answer, fault.bytes);
  return send(
    response,
    fault?.kind === 'truncated' ? { ...without(answer, 'Content-Length'), body: firstHalf(answer) } : answer,
  );
}

function send(response: ServerResponse, answer: Answer): void {
  sendHead(response, answer);
  // Written apart from the end, so that Node does not add the length that a CGI's answer lacks.
  if (answer.body.length > 0) response.write(answer.body);
  response.end();
}

function cut(response: ServerResponse, answer: Answer): void {
  sendHead(response, answer, answer.body.length);
  response.write(firstHalf(answer), () => response.destroy());
}

async function sendSlowly(
  response: ServerResponse,
  answer: Answer,
  bytesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  sendHead(response, answer);
  const step = Math.max(1, Math.floor(bytesPerSecond / 10));
  for (let sent = 0; sent < answer.body.length && !response.destroyed; sent += step) {
    response.write(answer.body.subarray(sent, sent + step));
    await sleep((1_000 * step) / bytesPerSecond, signal);
  }
  response.end();
}

async function sendHuge(response: ServerResponse, answer: Answer, bytes: number): Promise<void> {
  sendHead(response, without(without(answer, 'Content-Length'), 'Content-Encoding'));
  const open = Buffer.from('{"description":"A large answer","params":"');
  const close = Buffer.from('"}');
  const block = Buffer.alloc(65_536, 'x');
  response.write(open);
  for (let left = bytes - open.length - close.length; left > 0 && !response.destroyed; left -= block.length) {
    if (!response.write(block.subarray(0, Math.min(left, block.length)))) await drained(response);
  }
  response.end(close);
}

function firstHalf({ body }: Answer): Buffer {
  return body.subarray(0, Math.floor(body.length / 2));
}

function without(answer: Answer, header: string): Answer {
  return { ...answer, headers: answer.headers.filter(([name]) => name !== header) };
}

async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  // A client that gave up closes the connection, and then nothing drains any more.
  await Promise.race([once(response, 'drain', over), once(response, 'close', over)]);
  over.abort();
}

import { connect, type Socket } from 'node:net';

/** Times answers of one server over one kept-alive connection. */
export interface Stopwatch {
  /** Milliseconds from the request to the last byte. */
  time(path: string, headers: Readonly<Record<string, string>>): Promise<number>;
  close(): void;
}

/** As much as a socket has at a time. */
const bufferBytes = 1_048_576;

/**
 * Reads everything into the same memory: node:http would allocate each page anew, and what clears that away takes longer than the
 * pages do, and ten times as long once in a while.
 */
export function createStopwatch(url: string): Stopwatch {
  const { hostname, port, host } = new URL(url);
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  let socket: Socket | undefined;
  let take: ((content: Buffer) => void) | undefined;
  let fail: ((reason: Error) => void) | undefined;

  function open(): Socket {
    const onread = {
      buffer,
      callback(length: number) {
        take?.(buffer.subarray(0, length));
        return true;
      },
    };
    return connect({ host: hostname, port: Number(port), noDelay: true, onread })
      .on('error', (error) => fail?.(error))
      .on('close', () => {
        socket = undefined;
        fail?.(new Error(`${url} closed the connection`));
      });
  }

  return {
    time(path, headers) {
      const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket ??= open();
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const answer = followAnswer();
      const startedAtMs = performance.now();
      fail = reject;
      take = (content) => {
        answer.take(content);
        if (answer.status !== undefined && answer.status !== 200) reject(new Error(`${path}: ${answer.status}`));
        if (answer.isWhole) resolve(performance.now() - startedAtMs);
      };
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      return promise;
    },
    close() {
      fail = undefined;
      socket?.destroy();
    },
  };
}

const endOfHead = '\r\n\r\n';
const lastChunk = '0\r\n\r\n';

/** Finds the end of an answer, whose body has a length or comes in chunks. */
function followAnswer() {
  let head = '';
  let status: number | undefined;
  /** Of the body; unknown of one in chunks. */
  let missing: number | undefined;
  let end = '';
  return {
    get status() {
      return status;
    },
    get isWhole() {
      return status !== undefined && (missing === undefined ? end === lastChunk : missing <= 0);
    },
    take(content: Buffer): void {
      let body = content;
      if (status === undefined) {
        const before = head.length;
        head += content.toString('latin1');
        const at = head.indexOf(endOfHead);
        if (at === -1) return;
        body = content.subarray(at + endOfHead.length - before);
        status = Number(head.split(' ', 2)[1]);
        const length = /^content-length: *(\d+)/im.exec(head.slice(0, at))?.[1];
        missing = length === undefined ? undefined : Number(length);
      }
      if (missing !== undefined) missing -= body.length;
      else end = (end + body.toString('latin1', Math.max(0, body.length - lastChunk.length))).slice(-lastChunk.length);
    },
  };
}

import type { Readable } from 'node:stream';

/**
 * Resolves to the whole body if it has at most `wholeBytes`; otherwise to a stream that still has
 * all of it. A buffer costs a fraction of a stream. Rejects if the body fails before that is
 * decided.
 */
export function readBeginning(body: Readable, wholeBytes: number): Promise<Buffer | Readable> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= wholeBytes) return;
      stop();
      body.pause();
      body.unshift(Buffer.concat(chunks));
      resolve(body);
    };
    const onEnd = (): void => {
      stop();
      resolve(Buffer.concat(chunks));
    };
    const onError = (error: Error): void => {
      stop();
      reject(error);
    };
    function stop(): void {
      body.off('data', onData).off('end', onEnd).off('error', onError);
    }
    body.on('data', onData).once('end', onEnd).once('error', onError);
  });
}

import type { Readable } from 'node:stream';

/**
 * Reads a body that ends within so many bytes; a longer one comes back as a stream that still has all of it. What is read
 * whole costs a fraction of a stream. Rejects when the body fails before that is known.
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

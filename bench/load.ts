import { Pool } from 'undici';
import { percentile } from './measure.ts';

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

export interface Load {
  /** In turn. */
  readonly calls: readonly Call[];
  /** Of all calls together. */
  readonly count: number;
  readonly atATime: number;
}

/** What a round of calls took, each from the call to the last byte of its answer. */
export interface Round {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Calls one server over kept-alive connections; an answer other than 200 ends the benchmark. */
export interface LoadGenerator {
  round(load: Load): Promise<Round>;
  /** The body of one answer. */
  once(call: Call): Promise<string>;
  close(): Promise<void>;
}

export interface LoadParts {
  readonly origin: string;
  /** Before the path of each call. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function createLoadGenerator({ origin, prefix, headers }: LoadParts): LoadGenerator {
  const pool = new Pool(origin, { pipelining: 1, connect: { rejectUnauthorized: false } });

  async function send({ method, path, body }: Call): Promise<string> {
    const answer = await pool.request({
      method,
      path: `${prefix}${path}`,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path} is answered with ${answer.statusCode}: ${text}`);
    return text;
  }

  return {
    once: send,
    async round({ calls, count, atATime }) {
      const tookMs: number[] = [];
      const left = Array.from({ length: count }, (_, index) => calls[index % calls.length]!).values();
      const startedAtMs = performance.now();
      const workers = Array.from({ length: atATime }, async () => {
        for (const call of left) {
          const sentAtMs = performance.now();
          await send(call);
          tookMs.push(performance.now() - sentAtMs);
        }
      });
      await Promise.all(workers);
      const ms = performance.now() - startedAtMs;
      return { perSecond: (count / ms) * 1_000, p50Ms: percentile(tookMs, 0.5), p99Ms: percentile(tookMs, 0.99) };
    },
    close: () => pool.destroy(),
  };
}

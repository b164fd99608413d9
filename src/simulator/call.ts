import type { Reply } from './reply.ts';
import type { User, World } from './world.ts';

/** One request as a handler sees it: allowed, matched and with its body read. */
export interface Call {
  readonly world: World;
  readonly user: User;
  readonly nowMs: number;
  /** The template and its decoded values. */
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  /** An object for JSON content, undefined for everything else. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
  /** The body as sent. */
  readonly content: Buffer;
}

export type Handler = (call: Call) => Reply;

/** Handlers of one area, keyed by route. */
export type Handlers = Readonly<Record<string, Handler>>;

/** A path parameter of the route. */
export function param(call: Call, name: string): string {
  return call.params[name] ?? '';
}

/** Flags travel as words. */
export function flag(value: boolean): 'true' | 'false' {
  return value ? 'true' : 'false';
}

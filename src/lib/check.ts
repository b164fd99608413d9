/** Narrows an unknown value to a plain object; arrays and null are not one. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws for a bug, never for bad input; `because` states the violated assumption. */
export function assert(condition: unknown, because: string): asserts condition {
  if (!condition) throw new TypeError(`broken promise: ${because}`);
}

export function isOneOf<const Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return (words as readonly unknown[]).includes(value);
}

/** Returns the code of a system or library error (`ECONNREFUSED`, `UND_ERR_SOCKET`), or ''. */
export function errorCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Node's advice at the end of some messages, which does not help users of this program. */
const adviceOfNode = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

/** OpenSSL's messages: thread, number, library, function, reason, and a line of its source. */
const messageOfOpenssl = /^(?:\w+ EPROTO )?[0-9A-F]+:error:[0-9A-F]+:([^:]+):[^:]*:([^:]+):/;

/** Returns the platform's message of an error, without what only its developers need. */
export function errorMessage(thrown: unknown): string {
  const error = toError(thrown);
  const [, library, reason] = messageOfOpenssl.exec(error.message) ?? [];
  if (library && reason) return `${library}: ${reason}`;
  // Node reports a refused dual-stack connect as an aggregate with an empty message.
  return error.message === '' ? errorCode(error) : error.message.replace(adviceOfNode, '');
}

/** Returns the value of a JSON text; undefined when the text is not JSON. */
export function parseJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

export type Result<T> = { readonly value: T } | { readonly error: string };

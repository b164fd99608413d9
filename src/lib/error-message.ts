import { errorCode, toError } from './check.ts';

/** Node's advice at the end of some messages, which does not help users of this program. */
const adviceOfNode = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

/** OpenSSL's messages: thread, number, library, function, reason, and a line of its source. */
const messageOfOpenssl = /^[0-9A-F]+:error:[0-9A-F]+:([^:]+):[^:]*:([^:]+):/;

/** Returns the platform's message of an error, without what only its developers need. */
export function errorMessage(thrown: unknown): string {
  const error = toError(thrown);
  const [, library, reason] = messageOfOpenssl.exec(error.message) ?? [];
  if (library && reason) return `${library}: ${reason}`;
  // Node reports a refused dual-stack connect as an aggregate with an empty message.
  return error.message === '' ? errorCode(error) : error.message.replace(adviceOfNode, '');
}

import type { IncomingHttpHeaders } from 'node:http';
import { AdminProblem } from '../admin/problem.ts';
import { percentDecoded } from '../lib/text.ts';

/** What a caller asks for in the headers of the gateway. */
export interface AdminHeaders {
  readonly confirm: string | undefined;
  readonly reason: string | undefined;
  readonly dryRun: boolean;
  readonly force: boolean;
}

const maxTextLength = 500;

/**
 * Throws an {@link AdminProblem} for a wrong value: a misspelled dry run must not become a real
 * call.
 */
export function readAdminHeaders(headers: IncomingHttpHeaders): AdminHeaders {
  const reason = decoded(textOf(headers, 'x-reason'));
  const force = flagOf(headers, 'x-force');
  if (force && reason === undefined) {
    throw new AdminProblem('reason_required', {
      detail: 'What is forced needs a reason for the audit; nothing was sent.',
      remedy: 'Add the header X-Reason with a sentence.',
    });
  }
  return { confirm: textOf(headers, 'x-confirm'), reason, dryRun: flagOf(headers, 'x-dry-run'), force };
}

function flagOf(headers: IncomingHttpHeaders, name: string): boolean {
  const value = headers[name];
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw malformed(`${name} is neither true nor false`, `Send ${name}: true once, or leave it out.`);
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  // Node reads header bytes as Latin-1; clients write UTF-8.
  const text = Buffer.from(String(value), 'latin1').toString().trim();
  if (text === '') return undefined;
  if (text.length > maxTextLength)
    throw malformed(`${name} is longer than ${maxTextLength} characters`, 'Say it in fewer words.');
  return text;
}

/** Decodes a percent-encoded reason (letters outside ASCII); returns any other text unchanged. */
function decoded(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (percentDecoded(text) ?? text);
}

function malformed(detail: string, remedy: string): AdminProblem {
  return new AdminProblem('malformed_header', { detail: `${detail}; nothing was sent.`, remedy });
}

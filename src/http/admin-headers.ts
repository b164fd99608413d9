import type { IncomingHttpHeaders } from 'node:http';
import { AdminProblem } from '../admin/problem.ts';
import { percentDecoded } from '../lib/percent-decoded.ts';

/** The wishes of a caller that travel as headers. */
export interface AdminHeaders {
  readonly confirm: string | undefined;
  readonly reason: string | undefined;
  readonly dryRun: boolean;
  readonly force: boolean;
}

const longestText = 500;

/** Throws an {@link AdminProblem}: a dry run that was spelled wrong must not become a real one. */
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
  if (text.length > longestText)
    throw malformed(`${name} is longer than ${longestText} characters`, 'Say it in fewer words.');
  return text;
}

/** A reason with letters outside ASCII may come percent-encoded; a percent sign of its own stands for itself. */
function decoded(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (percentDecoded(text) ?? text);
}

function malformed(detail: string, remedy: string): AdminProblem {
  return new AdminProblem('malformed_header', { detail: `${detail}; nothing was sent.`, remedy });
}

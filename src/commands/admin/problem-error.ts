import { isRecord, parseJson } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { AdminError } from '../../recipes/admin-error.ts';

/** Makes an error of the gateway's problem document (RFC 9457). */
export function problemError(status: number, requestId: string | undefined, body: Buffer): AdminError {
  const problem = parseJson(body);
  const field = (name: string): string => {
    const value = isRecord(problem) ? problem[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const code = field('code');
  return new AdminError(field('title') || `The gateway answered ${status}`, {
    detail: field('detail'),
    remedy: [field('remedy'), hints[code] ?? ''].filter((text) => text !== '').join(' '),
    code,
    requestId,
    status,
    body,
  });
}

/** The flags for the headers that the gateway's remedies name. */
const hints: Readonly<Record<string, string>> = {
  unauthenticated: 'Here: --admin.token-file=PATH, or ZLB_ADMIN_TOKEN_FILE.',
  token_expired: 'Here: --admin.token-file=PATH, or ZLB_ADMIN_TOKEN_FILE.',
  confirmation_required: 'Here: --confirm=NAME.',
  confirmation_mismatch: 'Here: --confirm=NAME.',
  guarded: 'Here: --force --reason=TEXT.',
  reason_required: 'Here: --reason=TEXT.',
  frozen: 'Here: zlb-exporter admin unfreeze.',
  cannot_wait: 'Here: --break-glass --reason=TEXT.',
  unknown_request: 'Here: zlb-exporter admin requests --state=all.',
  too_many_requests: 'Here: zlb-exporter admin requests cancel ID.',
  request_over: 'Here: zlb-exporter admin requests show ID.',
  digest_mismatch: 'Here: zlb-exporter admin requests show ID.',
  plan_changed: 'Here: zlb-exporter admin requests show ID.',
  unknown_appliance: 'Here: zlb-exporter admin appliances.',
  appliance_denied: 'Here: zlb-exporter admin appliances.',
};

/**
 * Returns the lines of an error for a terminal, without control characters: texts of an appliance
 * may be in it.
 */
export function errorLines({ title, message, remedy, code, requestId }: AdminError): readonly string[] {
  const origin = [code && `code ${code}`, requestId && `request ${requestId}`].filter(Boolean).join(', ');
  return [
    `zlb-exporter: ${oneLine(title, 200)}`,
    ...[message, remedy, origin].filter((text) => text !== '').map((text) => `  ${oneLine(text, 2_000)}`),
  ];
}

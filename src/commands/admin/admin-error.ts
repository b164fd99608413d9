import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';

interface AdminErrorDetails {
  /** One sentence about this case. */
  readonly detail: string;
  /** The next step for the user. */
  readonly remedy: string;
  /** The stable code of the gateway's refusal. */
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** The HTTP status, when an answer came at all. */
  readonly status?: number;
  /** The answer as it came, for scripts. */
  readonly body?: Buffer;
}

/** A request that the gateway or the appliance refused, or that got no answer. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  readonly title: string;
  readonly remedy: string;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  readonly body: Buffer | undefined;

  constructor(title: string, { detail, remedy, code, requestId, status, body }: AdminErrorDetails) {
    super(detail);
    this.title = title;
    this.remedy = remedy;
    this.code = code;
    this.requestId = requestId;
    this.status = status;
    this.body = body;
  }

  /** Returns a copy whose texts went through `hide`; the body stays exact. */
  without(hide: (text: string) => string): AdminError {
    const { title, message, remedy, code, requestId, status, body } = this;
    return new AdminError(hide(title), {
      detail: hide(message),
      remedy: hide(remedy),
      code: code && hide(code),
      requestId: requestId && hide(requestId),
      ...(status === undefined ? {} : { status }),
      ...(body === undefined ? {} : { body }),
    });
  }
}

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

/** Returns the value of a JSON text; undefined when the text is not JSON. */
export function parseJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

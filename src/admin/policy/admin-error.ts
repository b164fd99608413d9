interface AdminErrorDetails {
  /** One sentence about this case. */
  readonly detail: string;
  /** The next step for the user. */
  readonly remedy: string;
  /** The stable code of the gateway's refusal. */
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** The HTTP status, when a response came at all. */
  readonly status?: number | undefined;
  /** The response as it came, for scripts. */
  readonly body?: Buffer | undefined;
  readonly cause?: unknown;
}

/** A request that the gateway, a recipe or the appliance refused, or that got no response. */
export class AdminError extends Error {
  override readonly name: string = 'AdminError';
  readonly title: string;
  readonly remedy: string;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  readonly body: Buffer | undefined;

  constructor(title: string, { detail, remedy, code, requestId, status, body, cause }: AdminErrorDetails) {
    super(detail, { cause });
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
      status,
      body,
    });
  }
}

/** Returns the error of a recipe that refuses before its first change. */
export function refusal(title: string, remedy: string): AdminError {
  return new AdminError(title, { detail: 'Nothing was changed.', remedy });
}

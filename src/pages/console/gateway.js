// Sends requests to the gateway that serves this page.

const base = location.origin + location.pathname.replace(/console$/, '');
const readTimeoutMs = 5_000;
/** Longer, because the gateway plans again before it approves. */
const decideTimeoutMs = 90_000;

/** A refusal of the gateway. */
export class Refusal extends Error {
  /**
   * Has the members of the response.
   * @param {Record<'code' | 'title' | 'detail' | 'remedy', string> & { status: number }} problem
   */
  constructor({ status, code, title, detail, remedy }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.title = title;
    this.remedy = remedy;
  }
}

/** The gateway did not respond; the request may have had its effect. */
export class NoResponseError extends Error {}

/**
 * Returns functions that send requests with a token, until the signal aborts.
 * @param {string} token
 * @param {AbortSignal} signal
 */
export function gatewayFor(token, signal) {
  /**
   * @param {'GET' | 'POST'} method
   * @param {string} path
   * @param {object} [body]
   */
  async function request(method, path, body) {
    const timeout = AbortSignal.timeout(method === 'GET' ? readTimeoutMs : decideTimeoutMs);
    let response;
    let content;
    try {
      response = await fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        body: body && JSON.stringify(body),
        signal: AbortSignal.any([signal, timeout]),
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
      });
      content = await response.json();
    } catch (error) {
      signal.throwIfAborted();
      throw new NoResponseError(response ? `Something else responds in its place, with status ${response.status}.` : '', {
        cause: error,
      });
    }
    if (response.ok) return { content, date: response.headers.get('date') };
    if (content?.code === undefined) throw new NoResponseError(`Something else responds with status ${response.status}.`);
    throw new Refusal(content);
  }
  return {
    /** @param {string} path */
    read: (path) => request('GET', path),
    /**
     * @param {string} path
     * @param {object} body
     */
    send: (path, body) => request('POST', path, body),
  };
}

/** Parts of a line about a request; those that are left out are usual. */
export interface LoggedRequest {
  readonly farm?: string;
  readonly host?: string;
  readonly user?: string;
  readonly request?: string;
  readonly code?: string;
  readonly bytes?: string;
  readonly referrer?: string;
  readonly agent?: string;
  readonly service?: string;
  readonly backend?: string;
  readonly seconds?: string;
}

/** Returns the line of `pound` about a request at its level 5, without a header. */
export function logged(given: LoggedRequest): string {
  const { farm = 'shop', host = 'shop.test', user = '-', request = 'GET /cart HTTP/1.1' } = given;
  const { code = '200', bytes = '5120', referrer = '', agent = 'curl/8.0' } = given;
  const { service = 'front', backend = '10.0.0.1:80', seconds = '0.042' } = given;
  return `${farm}, ${host} 192.0.2.77 - ${user} [26/Nov/2026:04:17:34 +0000] "${request}" ${code} ${bytes} "${referrer}" "${agent}" (${service} -> ${backend}) ${seconds} sec`;
}

/** Returns the line of `zproxy` about the same request at its level 6, without a header. */
export function loggedByZproxy(given: LoggedRequest): string {
  const { farm = 'shop', host = 'shop.test', request = 'GET /cart HTTP/1', code = '200', bytes = '5120' } = given;
  const { service = 'front', backend = '10.0.0.1:80', referrer = '', agent = 'curl/8.0' } = given;
  return `[f:${farm}][th:117fa6c0] [st:21][svc:${service}][bk:${backend}][cl:192.0.2.77](established) host:${host} - "${request}" "HTTP/1.1 ${code} OK" ${bytes} "${referrer}" "${agent}"`;
}

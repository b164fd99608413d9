/** The path of the document, and the one that older product lines know (docs/api.md §1.1). */
export const knownBasePaths = ['/api/v4.0/api.cgi', '/zapi/v4.0/zapi.cgi'] as const;

/** Where the API may be on an appliance: the one path that its URL names, or else every one that is known. */
export function basePathsOf(url: URL): readonly string[] {
  return url.pathname === '/' ? knownBasePaths : [url.pathname.replace(/\/$/, '')];
}

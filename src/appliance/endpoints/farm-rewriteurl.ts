import type { EndpointRow } from './row.ts';

/** URL rewrite rules of HTTP farms; a running farm takes a change at its next restart (docs/api.md §4.3). */
export const farmRewriteurlEndpoints = {
  addUrlRewrite: {
    route: 'POST /farms/{farmname}/service/{service}/rewriteurl',
    area: 'farm-rewriteurl',
    since: '4.0.2',
    risk: 'reversible',
    body: 'json',
    summary: 'add a URL rewrite rule (singular path word)',
  },
  moveUrlRewrite: {
    route: 'POST /farms/{farmname}/service/{service}/rewriteurl/{index}/actions',
    area: 'farm-rewriteurl',
    since: '4.0.2',
    risk: 'reversible',
    body: 'json',
    summary: 'move a URL rewrite rule',
  },
  deleteUrlRewrite: {
    route: 'DELETE /farms/{farmname}/service/{service}/rewriteurl/{index}',
    area: 'farm-rewriteurl',
    since: '4.0.2',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a URL rewrite rule',
  },
  addUrlRewritePath: {
    route: 'POST /farms/{farmname}/service/{service}/rewriteurl/{path*}',
    area: 'farm-rewriteurl',
    since: '4.0.2',
    risk: 'reversible',
    body: 'json',
    summary: 'wildcard as stated (ADD)',
  },
  deleteUrlRewritePath: {
    route: 'DELETE /farms/{farmname}/service/{service}/rewriteurl/{path*}',
    area: 'farm-rewriteurl',
    since: '4.0.2',
    risk: 'destructive',
    body: 'none',
    summary: 'wildcard as stated (DELETE)',
  },
} as const satisfies Record<string, EndpointRow>;

import type { EndpointRow } from '../appliance/endpoints/row.ts';
import type { World } from './world.ts';

/** Routes that the Community Edition does not know, so that it answers 404 or takes another route for them. */
const enterpriseOnly = [
  / \/certificates\/activation/,
  / \/farms\/modules\/gslb$/,
  /^POST \/farms\/\{farmname\}$/,
  / \/farms\/\{farmname\}\/certificates\/\{certificate\}\/actions$/,
  / \/farms\/\{farmname\}\/services\/\{service\}\/actions$/,
  / \/farms\/\{farmname\}\/(?:replacerequestheader|replaceresponseheader|service|sessions|zones|ipds)(?:\/|$)/,
  / \/farms\/\{farmname\}\/services\/\{service\}\/sessions/,
  / \/interfaces\/(?:bonding|floating)/,
  /^PUT \/monitoring\/fg$/,
  /\{\w+\*\}/,
  / \/(?:aliases|routing|ipds|rbac|aws|azure)(?:\/|$)/,
  / \/stats\/system\/(?:network\/interfaces|connections|cpu|memory|load)$/,
  / \/system\/(?:global|factory|ssh|http|https\/certificate|rsyslog|packages\/offline|cluster|notifications)(?:\/|$)/,
];

const olderOnly = [/ \/interfaces\/gateway$/];
const newestOnly = [/ \/certificates\/(?:letsencrypt(?:\/|$)|pem$)/, / \/vpns/, / \/system\/(?:proxy|support)$/];

/** Whether the appliance has a route at all (docs/api.md §7). */
export function isServed({ route, since }: EndpointRow, { edition, release }: World): boolean {
  if (edition === 'community') {
    if (matches(enterpriseOnly, route)) return false;
    if (matches(release === 'newest' ? olderOnly : newestOnly, route)) return false;
  }
  return release === 'newest' || since !== '4.0.2';
}

function matches(patterns: readonly RegExp[], route: string): boolean {
  return patterns.some((pattern) => pattern.test(route));
}

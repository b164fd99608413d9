import type { ReadKey } from '../../src/appliance/client.ts';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { createRouteMatcher } from '../../src/appliance/route.ts';
import { ownRecordings, readExchanges, recordedHeader } from '../support/recordings.ts';

export interface RecordedReply {
  readonly key: ReadKey;
  readonly text: string;
}

const basePath = /^\/(?:api\/v4\.0\/api|zapi\/v4\.0\/zapi)\.cgi/;

/** Replies of calls that the recorded appliance does not have, from the documentation. */
const documented: readonly RecordedReply[] = [
  { key: 'readConnectionStats', text: '{"description":"System connections","params":{"connections":"58"}}' },
  { key: 'readActivationInfo', text: '{"params":{"days_to_expire":"312","type":"subscription"}}' },
  {
    key: 'readActivationCertificate',
    text: 'Certificate:\n    Validity\n        Not After : Nov  6 00:00:00 2027 GMT\n',
  },
  { key: 'readLocalClusterNode', text: '{"params":{"name":"lb-a","role":"master","status":"ok"}}' },
  { key: 'listIpds', text: '{"params":[{"name":"geo_ES","rule":"blacklist","status":"up"}]}' },
  { key: 'listVpns', text: '{"params":[{"name":"office","profile":"site_to_site","status":"up"}]}' },
];

/** Bodies of every read that a collector or a guard decodes, as a real appliance sent them. */
export function recordedReplies(): readonly RecordedReply[] {
  const reads = new Map(endpointRows.filter(([, row]) => row.reply).map(([key, row]) => [key, row] as const));
  const matcher = createRouteMatcher([...reads].map(([key, row]) => ({ ...row, key })));
  const recorded = readExchanges(ownRecordings).flatMap(({ request, response }) => {
    const found = matcher.match(request.method, request.path.replace(basePath, ''));
    const isPlain = response.status === 200 && recordedHeader(response.headers, 'content-encoding') === '';
    return found && isPlain ? [{ key: found.row.key as ReadKey, text: response.body }] : [];
  });
  return [...recorded, ...olderSpelling(recorded), ...documented];
}

/** The list of ACME certificates again, under the path that other lines of the product know. */
function olderSpelling(recorded: readonly RecordedReply[]): readonly RecordedReply[] {
  return recorded
    .filter(({ key }) => key === 'listAcmeCertificates')
    .map(({ text }) => ({ key: 'listLegacyAcmeCertificates', text }));
}

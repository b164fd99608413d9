import type { ReadKey } from '../../src/appliance/client.ts';
import { decodedCall, readExchanges, recordedProducts, textOf } from '../support/recordings.ts';

export interface RecordedReply {
  readonly key: ReadKey;
  readonly text: string;
}

/** Replies of calls that the recorded appliances do not have, from the documentation. */
const documented: readonly RecordedReply[] = [
  { key: 'readConnectionStats', text: '{"description":"System connections","params":{"connections":"58"}}' },
  { key: 'readActivationInfo', text: '{"params":{"days_to_expire":"312","type":"subscription"}}' },
  {
    key: 'readActivationCertificate',
    text: 'Certificate:\n    Validity\n        Not After : Nov  6 00:00:00 2027 GMT\n',
  },
  { key: 'readLocalClusterNode', text: '{"params":{"name":"lb-a","role":"master","status":"ok"}}' },
  { key: 'listVpns', text: '{"params":[{"name":"office","profile":"site_to_site","status":"up"}]}' },
];

/** Bodies of every read that a collector or a guard decodes, as real appliances sent them. */
export function recordedReplies(): readonly RecordedReply[] {
  const recorded = recordedProducts
    .flatMap(({ clone }) => readExchanges(clone))
    .flatMap((exchange) => {
      const call = decodedCall(exchange);
      return call && exchange.response.status === 200 ? [{ key: call.key, text: textOf(exchange) }] : [];
    });
  return [...recorded, ...documented];
}

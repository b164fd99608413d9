import { X509Certificate } from 'node:crypto';
import type { Params, ReadKey, ReplyOf } from '../../appliance/client.ts';
import type { EndpointKey } from '../../appliance/api/table.ts';
import type { OperationParameters } from '../calls/discovery.ts';
import type { DryRun } from '../calls/dry-run.ts';
import { isRecord, parseJson } from '../../lib/check.ts';
import { AdminError } from '../policy/admin-error.ts';
import { bodyTypes } from '../policy/operation.ts';

export interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface CallResponse {
  readonly status: number;
  /** Lower case, without parameters; empty when the response names none. */
  readonly mediaType: string;
  readonly requestId: string;
  readonly body: Buffer;
}

/** A call that changes something. */
export interface Write {
  readonly operationId: EndpointKey;
  readonly params: Readonly<Record<string, string>>;
  readonly content?: Content;
}

/**
 * The calls of one change to its appliance, through the same checks as a call from outside. Every
 * failure, also a refusal by the appliance, is an {@link AdminError}.
 */
export interface RecipeCalls {
  readonly appliance: string;
  /** Rejects with a {@link LateError} if there is no reply within `withinMs`. */
  read<Key extends ReadKey>(key: Key, params: Params<Key>, withinMs?: number): Promise<ReplyOf<Key>>;
  /** Resolves to the text of a read whose response is not JSON. */
  readText(key: EndpointKey, params: Readonly<Record<string, string>>): Promise<string>;
  readonly write: (write: Write) => Promise<void>;
  dryRun(write: Write): Promise<DryRun>;
  parametersOf(write: Pick<Write, 'operationId' | 'params'>): Promise<OperationParameters>;
  urlOf(write: Pick<Write, 'operationId' | 'params'>): string;
}

/** The appliance did not answer a read in the time that it usually takes. */
export class LateError extends AdminError {
  constructor(appliance: string) {
    super(`${appliance} did not answer in time`, { detail: 'It may wait for a proxy.', remedy: 'Try again.' });
  }
}

export function jsonContent(value: Readonly<Record<string, unknown>>): Content {
  return { type: bodyTypes.json[0], bytes: Buffer.from(JSON.stringify(value)) };
}

/**
 * Converts the refusal of an appliance. Takes only its message: a 402 also names the key of the
 * machine.
 */
export function applianceError({ status, requestId, body }: CallResponse, appliance: string): AdminError {
  const response = parseJson(body);
  const message = isRecord(response) && typeof response.message === 'string' ? response.message : '';
  const parameters = status === 400 && isRecord(response) ? namesIn(response.params) : [];
  return new AdminError(`${appliance} answered ${status}`, {
    detail: message === '' ? 'It gave no reason.' : message,
    // The appliance answers an empty body with the list of parameters (docs/api.md §1.4).
    remedy:
      parameters.length > 0
        ? `It takes ${parameters.toSorted().join(', ')}; zlb-exporter admin parameters … explains them.`
        : (remedies[status] ?? ''),
    requestId,
    status,
    body,
  });
}

const remedies: Readonly<Record<number, string>> = {
  402: 'The appliance is deactivated: install an activation certificate.',
  403: "The gateway's key may not do this: see the role of its user on the appliance.",
  404: 'Check the names; some calls are missing in some editions and releases.',
};

function namesIn(list: unknown): readonly string[] {
  const records = Array.isArray(list) ? list.filter(isRecord) : [];
  return records.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

/** No text of a certificate is longer. */
const maxInfoLength = 1_048_576;
const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/**
 * Resolves to a certificate of the store, whose text form ends with it in PEM (docs/api.md §3.11);
 * undefined when the text has none.
 */
export async function readStored(
  { calls }: { readonly calls: Pick<RecipeCalls, 'readText'> },
  file: string,
): Promise<X509Certificate | undefined> {
  const text = (await calls.readText('readCertificateInfo', { file })).slice(0, maxInfoLength);
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) return undefined;
  try {
    return new X509Certificate(text.slice(from, to + end.length));
  } catch {
    return undefined;
  }
}

/**
 * The edition of an appliance. Only Enterprise appliances can be deactivated (docs/api.md §3.19).
 */
export type ApplianceEdition = 'community' | 'enterprise' | 'deactivated' | 'unknown';

export async function readEdition({ calls }: { readonly calls: Pick<RecipeCalls, 'read'> }): Promise<ApplianceEdition> {
  try {
    const { edition } = (await calls.read('readSystemInfo', {})).params;
    return edition === 'community' || edition === 'enterprise' ? edition : 'unknown';
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    if (error.status === 402) return 'deactivated';
    // Early releases have no such call.
    if (error.status === 404) return 'unknown';
    throw error;
  }
}

import type { Static, TSchema } from 'typebox';
import { checkAnswer } from '../../appliance/answer.ts';
import type { Params, ReadKey, ReplyOf } from '../../appliance/client.ts';
import { createDecoder, type Decode } from '../../appliance/decode.ts';
import type { BodyKind, EndpointRow } from '../../appliance/api/row.ts';
import { type EndpointKey, endpoints } from '../../appliance/api/table.ts';
import { type DryRunPlan, DryRunSchema } from '../calls/dry-run.ts';
import type { OperationCall, Operations } from '../policy/operation.ts';
import { isRecord, parseJson } from '../../lib/check.ts';
import { inTime } from '../../lib/time.ts';
import { AdminError } from '../policy/admin-error.ts';

/** The content type that the appliance expects for each kind of body (docs/api.md §1.3). */
export const contentTypes: Readonly<Record<Exclude<BodyKind, 'none'>, string>> = {
  json: 'application/json',
  text: 'text/plain',
  pem: 'application/x-pem-file',
  gzip: 'application/gzip',
};

export interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

/** The wishes of a caller beside the content of a call. */
export interface CallOptions {
  readonly confirm?: string | undefined;
  readonly reason?: string | undefined;
  readonly force?: boolean;
  /** Sends at once, in an emergency, what needs approval. */
  readonly breakGlass?: boolean;
  readonly dryRun?: boolean;
}

/** A whole answer of the appliance, or of the gateway to a dry run. */
export interface CallAnswer {
  readonly status: number;
  /** Lower case, without parameters; empty when the answer names none. */
  readonly mediaType: string;
  readonly requestId: string;
  readonly body: Buffer;
}

/** Sends one call through the gateway. Rejects with an {@link AdminError} if that refuses. */
export type SendCall = (call: OperationCall, content: Content | undefined, options: CallOptions) => Promise<CallAnswer>;

/** One call that changes something. */
export interface Write {
  readonly key: EndpointKey;
  readonly params: Readonly<Record<string, string>>;
  readonly content?: Content;
  /** The name that confirms a destructive call. */
  readonly confirm?: string;
}

/**
 * The calls that recipes send to one appliance. Every failure, also a refusal by the appliance, is
 * an {@link AdminError}.
 */
export interface Calls {
  readonly appliance: string;
  /** Rejects with a {@link LateError} if `withinMs` is given, and over. */
  read<Key extends ReadKey>(key: Key, params: Params<Key>, withinMs?: number): Promise<ReplyOf<Key>>;
  /** Resolves to the text of a read whose answer is no JSON. */
  readText(key: EndpointKey, params: Readonly<Record<string, string>>): Promise<string>;
  write(write: Write, options: CallOptions): Promise<void>;
  /** Resolves to the gateway's dry run of a call; changes nothing. */
  dryRun(write: Write, options: CallOptions): Promise<DryRunPlan>;
}

/** The appliance did not answer a read in the time that it usually takes. */
export class LateError extends AdminError {
  constructor(appliance: string) {
    super(`${appliance} did not answer in time`, { detail: 'It may wait for a proxy.', remedy: 'Try again.' });
  }
}

/** Returns how many values a reply may have before it is not parsed. */
export type MaxValues = (row: EndpointRow) => number;

export function createCalls(
  operations: Operations,
  appliance: string,
  send: SendCall,
  // A long reply costs memory in this process only.
  maxValues: MaxValues = () => Number.POSITIVE_INFINITY,
): Calls {
  const decode = createDecoder();

  async function ask(write: Write, options: CallOptions): Promise<CallAnswer> {
    const { content, confirm } = write;
    const answer = await send(callOf(operations, write), content, { ...options, confirm });
    if (answer.status >= 400) throw applianceError(answer, appliance);
    return answer;
  }

  return {
    appliance,
    async read(key, params, withinMs) {
      const row = endpoints[key];
      const { reply, route } = row;
      const asked = ask({ key, params }, {});
      const answer = await (withinMs === undefined ? asked : inTime(asked, withinMs, () => new LateError(appliance)));
      const expected = { schema: reply, maxValues: maxValues(row) };
      const checked = checkAnswer({ ...answer, text: answer.body.toString() }, expected, decode);
      if ('value' in checked) return checked.value as never;
      throw new AdminError(`${appliance} gave an unusable answer`, {
        detail: `${route}: ${checked.because}`,
        remedy: 'Look at it with zlb-exporter admin … --json.',
        requestId: answer.requestId,
      });
    },
    readText: async (key, params) => (await ask({ key, params }, {})).body.toString(),
    async write(write, options) {
      await ask(write, options);
    },
    async dryRun(write, options) {
      return readDryRun((await ask(write, { ...options, dryRun: true })).body, decode);
    },
  };
}

/** Returns the call of a write; throws an {@link AdminError} for a name that no path can carry. */
export function callOf(operations: Operations, { key, params }: Pick<Write, 'key' | 'params'>): OperationCall {
  const operation = operations.named(key);
  const call = operation && operations.call(operation, params);
  if (call) return call;
  throw new AdminError('A name cannot be part of a path', {
    detail: `${endpoints[key].route} was not asked for.`,
    remedy: 'Check the names given: no slashes, and nothing empty.',
  });
}

/** Checks the gateway's answer to a dry run; throws an {@link AdminError} when it does not fit. */
export function readDryRun(body: Buffer, decode: Decode): DryRunPlan {
  return readReply(DryRunSchema, parseJson(body), 'The gateway answered a dry run with something else', decode);
}

/** Checks an answer of the gateway; throws an {@link AdminError} when it does not fit. */
export function readReply<Schema extends TSchema>(
  schema: Schema,
  answer: unknown,
  title: string,
  decode: Decode = createDecoder(),
): Static<Schema> {
  const checked = decode(schema, answer);
  if (checked.ok) return answer as Static<Schema>;
  throw new AdminError(title, {
    detail: checked.because,
    remedy: 'Use the same version of zlb-exporter on both sides.',
  });
}

/** Returns the content of a call with a JSON body. */
export function jsonContent(value: Readonly<Record<string, unknown>>): Content {
  return { type: contentTypes.json, bytes: Buffer.from(JSON.stringify(value)) };
}

/**
 * Makes an error of an appliance's refusal. Takes the message only: a 402 also names the machine's
 * key.
 */
export function applianceError({ status, requestId, body }: CallAnswer, appliance: string): AdminError {
  const answer = parseJson(body);
  const message = isRecord(answer) && typeof answer.message === 'string' ? answer.message : '';
  const parameters = status === 400 && isRecord(answer) ? namesIn(answer.params) : [];
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

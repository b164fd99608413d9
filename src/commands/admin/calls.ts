import type { Operations } from '../../gateway/operation.ts';
import { checkAnswer } from '../../appliance/answer.ts';
import type { Params, ReadKey, ReplyOf } from '../../appliance/client.ts';
import { createDecoder } from '../../appliance/decode.ts';
import { type EndpointKey, endpoints } from '../../appliance/api/table.ts';
import { AdminError, parseJson } from './admin-error.ts';
import {
  type Content,
  type GatewayAnswer,
  type GatewayClient,
  requestFor,
  type CallOptions,
} from './gateway-client.ts';
import { type Preview, readPreview } from './preview.ts';
import { applianceError } from './show-answer.ts';

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
  read<Key extends ReadKey>(key: Key, params: Params<Key>): Promise<ReplyOf<Key>>;
  /** Resolves to the JSON of a read whose reply has no schema. */
  readAny(key: EndpointKey, params: Readonly<Record<string, string>>): Promise<unknown>;
  /** Resolves to the text of a read whose answer is no JSON. */
  readText(key: EndpointKey, params: Readonly<Record<string, string>>): Promise<string>;
  write(write: Write, options: CallOptions): Promise<void>;
  /** Resolves to the gateway's dry run of a call; changes nothing. */
  preview(write: Write, options: CallOptions): Promise<Preview>;
}

export function createCalls(client: GatewayClient, operations: Operations, appliance: string): Calls {
  const decode = createDecoder();

  async function ask({ key, params, content, confirm }: Write, options: CallOptions): Promise<Answered> {
    const operation = operations.named(key);
    const call = operation && operations.call(operation, params);
    if (!call) {
      throw new AdminError('A name cannot be part of a path', {
        detail: `${endpoints[key].route} was not asked for.`,
        remedy: 'Check the names given: no slashes, and nothing empty.',
      });
    }
    const answer = await client.send(requestFor(appliance, call, content, { ...options, confirm }));
    const body = await answer.whole();
    if (answer.status >= 400) throw applianceError(answer, appliance, body);
    return { answer, body };
  }

  return {
    appliance,
    async read(key, params) {
      const { reply, route } = endpoints[key];
      const { answer, body } = await ask({ key, params }, {});
      // A long reply costs memory in this process only.
      const expected = { schema: reply, maxValues: Number.POSITIVE_INFINITY };
      const checked = checkAnswer({ ...answer, text: body.toString() }, expected, decode);
      if ('value' in checked) return checked.value as never;
      throw new AdminError(`${appliance} gave an unusable answer`, {
        detail: `${route}: ${checked.because}`,
        remedy: 'Look at it with zlb-exporter admin … --json.',
        requestId: answer.requestId,
      });
    },
    readAny: async (key, params) => parseJson((await ask({ key, params }, {})).body),
    readText: async (key, params) => (await ask({ key, params }, {})).body.toString(),
    async write(write, options) {
      await ask(write, options);
    },
    async preview(write, options) {
      return readPreview((await ask(write, { ...options, dryRun: true })).body, decode);
    },
  };
}

interface Answered {
  readonly answer: GatewayAnswer;
  readonly body: Buffer;
}

/** Returns the content of a call with a JSON body. */
export function jsonContent(value: Readonly<Record<string, string>>): Content {
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
}

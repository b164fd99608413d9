import type { Operations } from '../../admin/operation.ts';
import { judgeAnswer } from '../../appliance/answer.ts';
import type { Params, ReadKey, Reply } from '../../appliance/client.ts';
import { createDecoder } from '../../appliance/decode.ts';
import { type EndpointKey, endpoints } from '../../appliance/endpoints/table.ts';
import { AdminError, parseJson } from './admin-error.ts';
import type { Content, GatewayAnswer, GatewayClient } from './gateway-client.ts';
import { type Preview, readPreview } from './preview.ts';
import { requestFor, type Wishes } from './request.ts';
import { applianceError } from './show-answer.ts';

/** One call that changes something. */
export interface Write {
  readonly key: EndpointKey;
  readonly params: Readonly<Record<string, string>>;
  readonly content?: Content;
  /** What a destructive call must be confirmed with. */
  readonly confirm?: string;
}

/** The calls to one appliance that recipes are made of. Every failure, a refusal by the appliance included, is an {@link AdminError}. */
export interface Calls {
  readonly appliance: string;
  read<Key extends ReadKey>(key: Key, params: Params<Key>): Promise<Reply<Key>>;
  /** The JSON of a read whose reply has no schema. */
  readAny(key: EndpointKey, params: Readonly<Record<string, string>>): Promise<unknown>;
  write(write: Write, wishes: Wishes): Promise<void>;
  /** What the gateway and its guards say of a call; nothing is changed. */
  preview(write: Write, wishes: Wishes): Promise<Preview>;
}

export function createCalls(client: GatewayClient, operations: Operations, appliance: string): Calls {
  const decode = createDecoder();

  async function ask({ key, params, content, confirm }: Write, wishes: Wishes): Promise<Answered> {
    const operation = operations.named(key);
    const call = operation && operations.call(operation, params);
    if (!call) {
      throw new AdminError('A name cannot be part of a path', {
        detail: `${endpoints[key].route} was not asked for.`,
        remedy: 'Check the names given: no slashes, and nothing empty.',
      });
    }
    const answer = await client.send(requestFor(appliance, call, content, { ...wishes, confirm }));
    const body = await answer.whole();
    if (answer.status >= 400) throw applianceError(answer, appliance, body);
    return { answer, body };
  }

  return {
    appliance,
    async read(key, params) {
      const { reply, route } = endpoints[key];
      const { answer, body } = await ask({ key, params }, {});
      // A long reply costs this process alone.
      const expected = { schema: reply, maxValues: Number.POSITIVE_INFINITY };
      const verdict = judgeAnswer({ ...answer, text: body.toString() }, expected, decode);
      if ('value' in verdict) return verdict.value as never;
      throw new AdminError(`${appliance} gave an answer that is none`, {
        detail: `${route}: ${verdict.because}`,
        remedy: 'Look at it with zlb-exporter admin … --json.',
        requestId: answer.requestId,
      });
    },
    readAny: async (key, params) => parseJson((await ask({ key, params }, {})).body),
    async write(write, wishes) {
      await ask(write, wishes);
    },
    async preview(write, wishes) {
      return readPreview((await ask(write, { ...wishes, dryRun: true })).body, decode);
    },
  };
}

interface Answered {
  readonly answer: GatewayAnswer;
  readonly body: Buffer;
}

/** The content of a JSON call. */
export function jsonContent(value: Readonly<Record<string, string>>): Content {
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
}

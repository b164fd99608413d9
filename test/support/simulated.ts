import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import {
  type SimulatedAppliance,
  type SimulatedApplianceOptions,
  startSimulatedAppliance,
} from '../../simulator/server.ts';
import type { World } from '../../simulator/world.ts';

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

interface CallOptions {
  readonly json?: unknown;
  readonly body?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An empty text sends no key at all. */
  readonly key?: string;
  readonly base?: string;
}

export type Caller = (method: string, path: string, options?: CallOptions) => Promise<Answered>;

export const rootKey = 'root-key';

/** A simulated appliance that ends with the test, and a client for it. */
export async function givenSimulated(
  world: World,
  options: Partial<SimulatedApplianceOptions> = {},
): Promise<{ readonly appliance: SimulatedAppliance; readonly call: Caller; readonly world: World }> {
  const appliance = await startSimulatedAppliance({ world, apiKey: rootKey, ...options });
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  onTestFinished(async () => {
    await dispatcher.destroy();
    await appliance.close();
  });
  const usualBase = world.release === 'newest' ? '/api/v4.0/api.cgi' : '/zapi/v4.0/zapi.cgi';

  async function call(
    method: string,
    path: string,
    { json, body, type, headers = {}, key = rootKey, base = usualBase }: CallOptions = {},
  ): Promise<Answered> {
    const content = json === undefined ? body : JSON.stringify(json);
    const contentType = type ?? (json === undefined ? undefined : 'application/json');
    const answer = await request(appliance.url + base + path, {
      method: method as 'GET',
      dispatcher,
      headers: {
        ...(key === '' ? {} : { ZAPI_KEY: key }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) };
  }

  return { appliance, call, world };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { createApi } from '../../simulator/api.ts';
import { dress } from '../../simulator/response.ts';
import type { World } from '../../simulator/world.ts';
import { checkResponse } from '../../src/appliance/response.ts';
import type { EndpointRow } from '../../src/appliance/api/row.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import { ApplianceError } from '../../src/appliance/errors.ts';
import { fillTemplate, parseRoute } from '../../src/appliance/route.ts';
import type { Read } from '../../src/collectors/collector.ts';

const apiKey = 'key-of-root';
const nowMs = Date.UTC(2026, 10, 20, 21);

/** Reads and changes a simulated appliance without a network: each answer is decoded as usual. */
export function simulatedApi(world: World) {
  const api = createApi(world);
  const root = world.users.get('root');
  if (root) root.key = apiKey;

  function answer(method: string, path: string, body?: unknown) {
    const headers = { zapi_key: apiKey, 'content-type': 'application/json' };
    const content = Buffer.from(body === undefined ? '' : JSON.stringify(body));
    const reply = api.answer({ method, headers, content, path, shown: path, nowMs });
    const dressed = dress(reply, { release: world.release, nowMs, gzip: false });
    const type = dressed.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
    return { status: dressed.status, mediaType: type.replace(/;.*/, ''), text: dressed.body.toString() };
  }

  const read: Read = (key, params) => {
    const row: EndpointRow = endpoints[key];
    const { template: endpoint } = parseRoute(row.route);
    const answered = answer('GET', fillTemplate(endpoint, params) ?? '');
    const expected = { schema: row.reply ?? {}, maxValues: 1e6, onUnreadable: () => undefined };
    const checked = checkResponse(answered, expected);
    if ('value' in checked) return Promise.resolve(checked.value as never);
    const routeMissing = answered.status === 404;
    return Promise.reject(
      new ApplianceError(checked.reason, { endpoint, status: answered.status, routeMissing, message: answered.text }),
    );
  };

  return {
    read,
    /** Sends a change; the appliance may refuse it. */
    change: (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): void => void answer(method, path, body),
  };
}

import { expect, it, onTestFinished } from 'vitest';
import { collectors } from '../../src/collectors/registry.ts';
import { compareTwins, type Readings } from '../../src/history/twins.ts';
import { createTestPoller, scheduled } from '../support/poller.ts';
import { recordedProducts } from '../support/recordings.ts';
import { startReplayServer } from '../support/replay-server.ts';

const used = collectors.filter((each) => each.enabled && each.configuredObjects);

async function readingsOf(directory: string): Promise<Readings> {
  const server = await startReplayServer({ directory });
  const { poller, close } = createTestPoller(server, { apiKey: server.apiKey, parts: { collectors: scheduled(used) } });
  onTestFinished(close);
  for (const { name } of used) await poller.run(name);
  return poller.state.snapshot();
}

it.each(recordedProducts)(
  'two recorded $product appliances are equal, and everything but the settings of L4 farms is compared',
  async ({ clone }) => {
    const [here, there] = [await readingsOf(clone), await readingsOf(clone)];

    expect(await compareTwins(here, there)).toEqual({ differences: [], unknown: new Set(['farm']) });
  },
);

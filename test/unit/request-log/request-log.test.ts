import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { linesPerWindow, RequestLog, windowMs } from '../../../src/request-log/request-log.ts';
import { maxWaitMs } from '../../../src/request-log/waiting.ts';

const line =
  'shop, shop.example.com 203.0.113.9 - - [26/Nov/2026:04:17:34 +0000] "GET / HTTP/1.1" 200 5 "" "curl" (web -> 10.0.0.11:80) 0.042 sec';

const appliance = { name: 'lb', from: ['192.0.2.1'], objectives: [] };
const farms = [{ name: 'shop', backends: [{ service: 'web', backend: '10.0.0.11:80' }] }];

async function givenSender(farmsOf: () => typeof farms | undefined) {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const log = new RequestLog({
    registry: new Registry(),
    store: { put: () => 0, remove: () => undefined },
    log: pino({ level: 'silent' }),
    farmsOf,
  });
  onTestFinished(() => log.close());
  (await log.prepare({ receiver: {}, buckets: [100], appliances: [appliance] })).commit();
  return { log, sender: log.consumerFor('192.0.2.1') };
}

it('a line that stands for many requests uses the rate limit of its sender for all of them', async () => {
  const { log, sender } = await givenSender(() => farms);
  log.publish();

  sender?.line(`<134>Nov 26 04:17:34 lb pound: message repeated ${4 * linesPerWindow} times: [ ${line}]`);

  const over = Array.from({ length: 5 }, () => {
    const isOver = sender?.takesNoMore;
    // A datagram that is dropped.
    if (isOver) sender?.fault('over_limit');
    vi.advanceTimersByTime(windowMs);
    return isOver;
  });
  expect(over).toEqual([true, true, true, true, false]);
});

it('requests that waited for a list of farms in vain use the rate limit only when they come', async () => {
  const { log, sender } = await givenSender(() => undefined);
  sender?.line(`<134>Nov 26 04:17:34 lb pound: message repeated ${linesPerWindow} times: [ ${line}]`);
  const whenTheyCome = sender?.takesNoMore;

  vi.advanceTimersByTime(maxWaitMs);
  log.publish();

  expect([whenTheyCome, sender?.takesNoMore]).toEqual([true, false]);
});

import { expect, it } from 'vitest';
import { systemCollector } from '../../../src/collectors/system.ts';
import { collectFrom } from './given-replies.ts';

const cpu = { cores: 4, user: 3.52, nice: 0, sys: 1.01, iowait: 0.25, irq: 0, softirq: 0.5, idle: 94.72, usage: 5.28 };
const load = { Last_1: 0.42, Last_5: 0.31, Last_15: 0.28 };
const memory = {
  MemTotal: 7976.4,
  MemFree: 5120.11,
  MemUsed: 1480.2,
  Buffers: 130.5,
  Cached: 1190.7,
  SwapTotal: 2047,
  SwapFree: 2047,
  SwapUsed: 0,
  SwapCached: 0,
};

it('the system collector writes the same when every number is a text', async () => {
  const asText = (numbers: object) =>
    Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, String(value)]));

  const numbers = await collectFrom(systemCollector, { readStats: { params: { cpu, load, memory } } });
  const texts = await collectFrom(systemCollector, {
    readStats: { params: { cpu: asText(cpu), load: asText(load), memory: asText(memory) } },
  });

  expect(texts.text).toBe(numbers.text);
});

it('the system collector omits missing values and whole parts instead of writing 0', async () => {
  const collected = await collectFrom(systemCollector, {
    readStats: { params: { cpu: { user: '', idle: null, sys: 1 }, load: { Last_1: 0 }, memory: {} } },
  });

  expect(collected.text).toBe(
    'zlb_system_cpu_ratio{appliance="lb",mode="sys"} 0.01\nzlb_system_load1{appliance="lb"} 0\n',
  );
});

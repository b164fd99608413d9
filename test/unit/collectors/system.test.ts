import { describe, expect, it } from 'vitest';
import { system } from '../../../src/collectors/system.ts';
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

describe('the system collector', () => {
  it('writes CPU as ratios and memory as bytes', async () => {
    const collected = await collectFrom(system, { readStats: { params: { hostname: 'lb-a', cpu, load, memory } } });

    expect(collected.text).toMatchInlineSnapshot(`
      "zlb_system_cpu_ratio{appliance="lb",mode="user"} 0.0352
      zlb_system_cpu_ratio{appliance="lb",mode="nice"} 0
      zlb_system_cpu_ratio{appliance="lb",mode="sys"} 0.0101
      zlb_system_cpu_ratio{appliance="lb",mode="iowait"} 0.0025
      zlb_system_cpu_ratio{appliance="lb",mode="irq"} 0
      zlb_system_cpu_ratio{appliance="lb",mode="softirq"} 0.005
      zlb_system_cpu_ratio{appliance="lb",mode="idle"} 0.9472
      zlb_system_cpu_cores{appliance="lb"} 4
      zlb_system_load1{appliance="lb"} 0.42
      zlb_system_load5{appliance="lb"} 0.31
      zlb_system_load15{appliance="lb"} 0.28
      zlb_system_memory_total_bytes{appliance="lb"} 8363861606
      zlb_system_memory_free_bytes{appliance="lb"} 5368824463
      zlb_system_memory_used_bytes{appliance="lb"} 1552102195
      zlb_system_memory_buffers_bytes{appliance="lb"} 136839168
      zlb_system_memory_cached_bytes{appliance="lb"} 1248539443
      zlb_system_swap_total_bytes{appliance="lb"} 2146435072
      zlb_system_swap_free_bytes{appliance="lb"} 2146435072
      zlb_system_swap_used_bytes{appliance="lb"} 0
      zlb_system_swap_cached_bytes{appliance="lb"} 0
      "
    `);
  });

  it('writes the same if every number is a text', async () => {
    const asText = (numbers: object) =>
      Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, String(value)]));

    const numbers = await collectFrom(system, { readStats: { params: { cpu, load, memory } } });
    const texts = await collectFrom(system, {
      readStats: { params: { cpu: asText(cpu), load: asText(load), memory: asText(memory) } },
    });

    expect(texts.text).toBe(numbers.text);
  });

  it('leaves out missing values instead of writing 0, and whole parts', async () => {
    const collected = await collectFrom(system, {
      readStats: { params: { cpu: { user: '', idle: null, sys: 1 }, load: { Last_1: 0 }, memory: {} } },
    });

    expect(collected.text).toBe(
      'zlb_system_cpu_ratio{appliance="lb",mode="sys"} 0.01\nzlb_system_load1{appliance="lb"} 0\n',
    );
  });
});

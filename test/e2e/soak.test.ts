import { expect, it } from 'vitest';
import { table } from '../../bench/soak/finding.ts';
import { runSoak } from '../../bench/soak/soak.ts';
import { parts } from '../../bench/soak/stage.ts';
import { isThere } from '../support/programs.ts';

// `npm run soak` in small: the same program, a few appliances, a minute.
it('survives random faults, bad clients, hanging appliances and reloads, and misses no cycle of the others', async () => {
  const findings = await runSoak({
    parts,
    program: [process.execPath, 'src/main.ts'],
    minutes: 1,
    troubleMinutes: 0.07,
    troubles: ['hang'],
    appliances: 10,
    reloads: 50,
    cycleSeconds: 2,
    scrapeEveryMs: 500,
    clients: 4,
    herd: 50,
    promtool: isThere('promtool'),
    seed: Number(process.env.ZLB_TEST_SEED ?? Date.now() % 1_000_000),
    signal: new AbortController().signal,
    say: () => undefined,
  });
  console.log(table(findings));

  expect(findings.filter(({ holds }) => holds === false)).toEqual([]);
}, 180_000);

import { expect, it } from 'vitest';
import { runSoak } from '../../bench/soak.ts';

// `npm run soak` in small: the same program, a few appliances, a minute.
it('the exporter survives faults, bad clients and reloads, loses no other readings, and shows nothing stale', async () => {
  const findings = await runSoak({
    program: [process.execPath, 'src/main.ts'],
    minutes: 1.1,
    appliances: 10,
    seed: Number(process.env.ZLB_TEST_SEED ?? Date.now() % 1_000_000),
    say: () => undefined,
  });
  console.log(findings.map(({ name, value }) => `${name}: ${value}`).join('\n'));

  expect(findings.filter(({ holds }) => holds === false)).toEqual([]);
});

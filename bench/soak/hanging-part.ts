import type { Fault } from '../../simulator/faults.ts';
import { sleep } from '../../src/lib/time.ts';
import { parseExposition } from '../../test/support/exposition-parser.ts';
import { until } from '../../test/support/until.ts';
import type { Finding } from './finding.ts';
import { samplesOf } from './page-checks.ts';
import { aboutPunctuality, type Punctuality, punctualityOf } from './punctuality.ts';
import type { Stage, Trouble } from './stage.ts';

const faultOf: { readonly [Name in Trouble]: Fault } = {
  hang: { kind: 'hang' },
  refuse: { kind: 'refuse' },
  slow_body: { kind: 'slow_body', bytesPerSecond: 20 },
  expired_tls: { kind: 'expired_tls' },
};

/** How much later than without trouble the p99 may be; below the second figure nobody minds. */
const mostTimes = 2;
const unnoticedMs = 50;
/** The minimum number of cycles: of a few, the p99 is the worst. */
const leastCycles = 200;

/** Three in ten appliances have a trouble, and the others keep their schedules. */
export async function hangingPart(stage: Stage): Promise<readonly Finding[]> {
  const { options, plan, fleet, watch } = stage;
  watch.follow(plan.untroubled);
  const calm = await measure(stage);
  const findings = [...aboutPunctuality('hanging', 'no trouble', calm)];
  for (const [index, trouble] of options.troubles.entries()) {
    if (index > 0) await recovered(stage);
    options.say(`  ${plan.troubled.length} of ${plan.configured.length}: ${trouble}`);
    await fleet.fail(plan.troubled, '*', faultOf[trouble]);
    const troubled = await measure(stage);
    await fleet.heal(plan.troubled);
    const times = troubled.p99Ms / calm.p99Ms;
    findings.push(...aboutPunctuality('hanging', `${plan.troubled.length} ${trouble}`, troubled), {
      part: 'hanging',
      name: `${plan.troubled.length} ${trouble}: p99 against no trouble`,
      value: times.toFixed(2),
      ...(calm.due >= leastCycles && {
        goal: `at most ${mostTimes}, or ${unnoticedMs} ms`,
        holds: times <= mostTimes || troubled.p99Ms <= unnoticedMs,
      }),
    });
  }
  return findings;
}

/** How the others keep to their schedules while scrapes go on. */
async function measure({ options, pace, plan, watch, waits }: Stage): Promise<Punctuality> {
  const fromMs = Date.now();
  const over = AbortSignal.any([options.signal, AbortSignal.timeout(options.troubleMinutes * 60_000)]);
  await watch.keepLooking(options.scrapeEveryMs, over);
  const toMs = Date.now();
  await sleep(pace.cycleMs, options.signal);
  await watch.look();
  return punctualityOf(plan.untroubled, watch.calls, { fromMs, toMs, pace, waits });
}

/** The next trouble should not meet appliances that are left alone because of the last one. */
async function recovered({ plan, reader, options }: Stage): Promise<void> {
  const troubled = new Set(plan.troubled);
  await until(
    async () => {
      options.signal.throwIfAborted();
      await sleep(1_000, options.signal);
      const page = parseExposition((await reader.read('/metrics')).text, 'text');
      return samplesOf(page, 'zlb_up').filter(
        ({ labels, value }) => troubled.has(labels['appliance'] ?? '') && value !== 1,
      ).length;
    },
    (down) => down === 0,
    180_000,
  );
}

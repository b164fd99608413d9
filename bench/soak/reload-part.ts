import { sleep } from '../../src/lib/time.ts';
import { until } from '../../test/support/until.ts';
import { seriesOf, valueOf } from '../../test/support/samples.ts';
import { usageOf } from '../measure.ts';
import { createCanarySearch } from './canaries.ts';
import { entryOf } from './configuration.ts';
import { atLeast, type Finding, handlesLeft, none } from './finding.ts';
import { aboutPunctuality, punctualityOf, type Stretch } from './punctuality.ts';
import { createReloadRounds, type ReloadRounds, type Round } from './reload-rounds.ts';
import type { Stage } from './stage.ts';

/** Every so many reloads comes as a signal. */
const signalEvery = 10;
const longestGapMs = 200;
/** On a machine that others use too. */
const patienceMs = 60_000;

/** The configuration is read again and again while scrapes go on. */
export async function reloadPart(stage: Stage): Promise<readonly Finding[]> {
  try {
    return await reloads(stage);
  } catch (error) {
    // The next parts are about all appliances.
    await restore(stage);
    throw error;
  }
}

async function reloads(stage: Stage): Promise<readonly Finding[]> {
  const { options, pace, plan, random, exporter, watch, waits } = stage;
  watch.follow(plan.untroubled);
  const before = usageOf(exporter.pid);
  const rounds = createReloadRounds(stage);
  const problems: string[] = [];
  const counts = new Map<string, number>();
  const removed = new Map<string, number>();
  const busy = await watchFor(stage, async () => {
    for (let number = 1; number <= options.reloads; number += 1) {
      const kind = await reloadOnce(stage, { rounds, number, removed, note: (problem) => problems.push(problem) });
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      await sleep(random.between(0, longestGapMs), options.signal);
    }
  });
  await watch.look();
  const followedMs = await followsFiles(stage);
  await watch.look();
  await restore(stage);

  const after = usageOf(exporter.pid);
  return [
    atLeast(
      'reload',
      `reloads (${[...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')})`,
      [...counts.values()].reduce((sum, count) => sum + count, 0),
      options.reloads,
    ),
    none('reload', 'answers and pages that were not as they should be', problems),
    ...aboutPunctuality('reload', 'unchanged', punctualityOf(plan.untroubled, watch.calls, { ...busy, pace, waits })),
    handlesLeft('reload', before.handles, after.handles),
    {
      part: 'reload',
      name: 'a file of appliance_files is followed',
      value: `after ${(followedMs / 1_000).toFixed(1)} s`,
      goal: 'within 10 s',
      holds: followedMs <= 10_000,
    },
  ];
}

interface RoundParts {
  readonly rounds: ReloadRounds;
  readonly number: number;
  /** How many looks had begun when an appliance was removed. */
  readonly removed: Map<string, number>;
  readonly note: (problem: string) => void;
}

async function reloadOnce(stage: Stage, { rounds, number, removed, note }: RoundParts): Promise<Round['kind']> {
  const { exporter, reader, watch } = stage;
  // An appliance that returns restarts its counters: not before a page without it was read.
  const { round, write } = rounds.next(number, (name) => watch.over > (removed.get(name) ?? 0));
  const farmsBefore = round.kind === 'changed' ? await farmSeries(stage, round.name) : [];
  // Until a page without it was read, the watch may not wonder where it went.
  if (round.kind !== 'added') watch.expect(new Set(rounds.configured));
  write();
  // A signal is not answered: only for what need not be known at once.
  const bySignal = number % signalEvery === 0 && ['broken', 'same', 'changed'].includes(round.kind);
  if (bySignal) exporter.reload();
  const answer = bySignal ? undefined : await reader.reload();
  const wanted = round.kind === 'broken' ? 0 : 1;
  const witness = stage.plan.untroubled[0] ?? '';
  const seen = await until(
    async () =>
      valueOf((await reader.read(`/metrics?appliance=${witness}`)).text, 'zlb_exporter_config_last_reload_successful'),
    (value) => value === wanted || !bySignal,
    patienceMs,
  );
  const complain = (what: string): void => note(`round ${number} (${JSON.stringify(round)}): ${what}`);
  if (seen !== wanted) complain(`last_reload_successful is ${seen}`);
  if (answer && answer.status !== (wanted === 1 ? 200 : 400)) complain(`${answer.status}: ${answer.text}`);
  if (answer && wanted === 0 && !/\S+ \S+/.test(answer.text)) complain(`no sentence in ${answer.text}`);
  const leak = answer && createCanarySearch(stage.secrets).findIn(answer.text);
  if (leak !== undefined) complain(`a secret in the answer: ${leak}`);
  if (!bySignal) await checkPages(stage, round, farmsBefore, complain);
  watch.expect(new Set(rounds.configured));
  if (round.kind === 'removed') removed.set(round.name, watch.begun);
  return round.kind;
}

/** Checks what must be true of the pages at once. */
async function checkPages(
  stage: Stage,
  round: Round,
  farmsBefore: readonly string[],
  complain: (what: string) => void,
): Promise<void> {
  if (round.kind === 'broken' || round.kind === 'same') return;
  const { status } = await stage.reader.read(`/metrics?appliance=${round.name}`);
  if (status !== (round.kind === 'removed' ? 404 : 200)) complain(`its page is answered with ${status}`);
  if (round.kind !== 'changed') return;
  const now = new Set(await farmSeries(stage, round.name));
  const lost = farmsBefore.filter((series) => !now.has(series));
  if (lost.length > 0) complain(`${lost.length} of its ${farmsBefore.length} series are gone, such as ${lost[0]}`);
}

async function farmSeries({ reader }: Stage, name: string): Promise<readonly string[]> {
  const { text } = await reader.read(`/metrics?appliance=${name}`);
  return seriesOf(text, 'zlb_farm_status').map((line) => line.slice(0, line.lastIndexOf(' ')));
}

/** Scrapes while something goes on; resolves to the time that it took. */
async function watchFor({ options, watch }: Stage, work: () => Promise<void>): Promise<Stretch> {
  const fromMs = Date.now();
  const over = new AbortController();
  const watching = watch.keepLooking(options.scrapeEveryMs, over.signal);
  try {
    await work();
  } finally {
    over.abort();
    await watching;
  }
  return { fromMs, toMs: Date.now() };
}

/** All are configured again as at the beginning; resolves once all have been read. */
async function restore({ configuration, fleet, plan, pace, reader, watch, options }: Stage): Promise<void> {
  configuration.write(fleet.appliances.filter(({ name }) => plan.configured.includes(name)).map(entryOf));
  await reader.reload();
  await until(
    async () => (await reader.read('/-/ready')).status,
    (status) => status === 200,
    120_000,
  );
  await sleep(pace.cycleMs, options.signal);
  watch.expect(undefined);
}

/** Takes an appliance out of a file that is followed; resolves to how long its series stay. */
async function followsFiles({ configuration, reader, watch, plan, fleet }: Stage): Promise<number> {
  const [witness = ''] = plan.spare;
  const status = async (): Promise<number> => (await reader.read(`/metrics?appliance=${witness}`)).status;
  const entries = fleet.appliances.map(entryOf);
  watch.expect(new Set(plan.untroubled));
  configuration.write(entries.filter(({ name }) => plan.untroubled.includes(name)));
  configuration.writeListed(entries.filter(({ name }) => name === witness));
  await reader.reload();
  await until(status, (seen) => seen === 200, patienceMs);
  const startedAtMs = performance.now();
  configuration.writeListed([]);
  await until(status, (seen) => seen === 404, 30_000).catch(() => undefined);
  return performance.now() - startedAtMs;
}

import { parseArgs } from 'node:util';
import { inColumns } from '../results.ts';
import { passTime, stopTime, watch, type Watched, type WatchParts } from './watch.ts';

/** An appliance as the table names it. */
interface Case {
  readonly name: string;
  readonly farms: number;
  readonly slowness: WatchParts['slowness'];
}

const minuteMs = 60_000;
/** When the disturbed one becomes slow, and for how long. */
const disturbed = { fromMs: 30 * minuteMs, untilMs: 40 * minuteMs, times: 10 };

const usual: readonly Case[] = [10, 50, 100, 250, 500].map((farms) => ({
  name: `${farms} farms`,
  farms,
  slowness: () => 1,
}));
const slow: readonly Case[] = [
  { name: '100 farms, all calls 5 times as slow', farms: 100, slowness: () => 5 },
  {
    name: '50 farms, 10 times as slow for 10 minutes',
    farms: 50,
    slowness: (sinceMs) => (sinceMs >= disturbed.fromMs && sinceMs < disturbed.untilMs ? disturbed.times : 1),
  },
];

// Simulated time unless minutes of real time are asked for, in which the appliances are watched
// side by side.
const { values } = parseArgs({ options: { 'real-minutes': { type: 'string' } } });
const realMinutes = values['real-minutes'];
const rows = realMinutes === undefined ? await simulated() : await real(Number(realMinutes) * minuteMs);
console.log(
  inColumns([
    [
      '',
      'busy',
      'calls/min',
      'farm status, max',
      'p99',
      'backends, max',
      'first round',
      'intervals',
      'changes',
      'blinked',
    ],
    ...rows,
  ]),
);

async function simulated(): Promise<string[][]> {
  const result: string[][] = [];
  stopTime(Date.parse('2026-11-20T21:00:00.500Z'));
  for (const each of [...usual, ...slow]) {
    const lasting = { settleMs: 60 * minuteMs, lengthMs: 120 * minuteMs };
    const watched = await watch({ ...each, backendsPerFarm: 4, ...lasting, pass: passTime });
    result.push(row(each, watched, lasting.settleMs));
    if (each.slowness(disturbed.fromMs) !== each.slowness(0)) tellRecovery(each, watched);
  }
  return result;
}

function real(lengthMs: number): Promise<string[][]> {
  const settleMs = lengthMs / 2;
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  return Promise.all(
    usual.map(async (each) =>
      row(each, await watch({ ...each, backendsPerFarm: 4, settleMs, lengthMs, pass }), settleMs),
    ),
  );
}

function row({ name }: Case, watched: Watched, settleMs: number): string[] {
  const { busyRatio, callsPerMinute, farmStatus, backendsMaxMs, firstRoundMs, intervals, changes, blinked } = watched;
  const shown = ['farms', 'backends', 'system', 'farm_config'];
  return [
    name,
    `${(busyRatio * 100).toFixed(1)} %`,
    callsPerMinute.toFixed(0),
    seconds(farmStatus.max),
    seconds(farmStatus.p99),
    seconds(backendsMaxMs),
    seconds(firstRoundMs ?? Number.NaN),
    shown.map((collector) => intervals.get(collector)).join(' '),
    String(changes.filter(({ atMs }) => atMs > settleMs).length),
    String(blinked),
  ];
}

function tellRecovery({ name }: Case, { changes }: Watched): void {
  const after = changes.filter(({ atMs }) => atMs > disturbed.untilMs);
  console.log(`${name}; intervals after that:`);
  for (const { atMs, collector, seconds: interval } of after)
    console.log(`  ${seconds(atMs - disturbed.untilMs)}: ${collector} ${interval} s`);
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

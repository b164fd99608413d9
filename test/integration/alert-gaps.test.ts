import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { startPrometheus } from '../../scripts/stack/server.ts';
import { givenFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { isThere } from '../support/programs.ts';
import { shippedFiles, withWaits } from '../support/shipped-rules.ts';
import { until } from '../support/until.ts';

/** Seconds of history before the gap. */
const historySeconds = 3_600;
const scrapeSeconds = 5;
/** As shipped, but each group is evaluated with each scrape, and every wait is short. */
const hurriedRules = stringify({
  groups: shippedFiles.flat().map((group) => ({
    ...group,
    interval: `${scrapeSeconds}s`,
    rules: group.rules.map((rule) => ({
      ...rule,
      expr: withWaits(rule.expr, 10),
      ...(rule.for === undefined ? {} : { for: '10s' }),
    })),
  })),
});

interface Remembered {
  readonly series: string;
  readonly everySeconds: number;
  readonly valueAt: (seconds: number) => number;
}

const itself = (seconds: number) => seconds;
const farm = (appliance: string) => `appliance="${appliance}",farm="shop"`;
const address = 'vip="192.0.2.1",vport="443"';

/** Returns the recordings of the time in which all was well. */
function rememberedOf(a: string, b: string): readonly Remembered[] {
  const seen = ['lb-stopped', 'lb-dead', 'lb-deaf'].flatMap((appliance) =>
    ['seen', 'served'].map(
      (when) => `appliance:zlb_farm_status:${when}{job="zlb",instance="${a}",appliance="${appliance}"}`,
    ),
  );
  return [
    ...seen.map((series) => ({ series, everySeconds: 15, valueAt: itself })),
    {
      series: `farm:zlb_farm_status:ran{job="zlb",instance="${a}",${farm('lb-stopped')}}`,
      everySeconds: 60,
      valueAt: itself,
    },
    {
      series: `farm:zlb_farm_reachable:ok{job="zlb",instance="${a}",${farm('lb-deaf')},${address}}`,
      everySeconds: 300,
      valueAt: itself,
    },
    {
      series: `appliance:zlb_up:watched{job="zlb",instance="${b}",appliance="lb-4"}`,
      everySeconds: 15,
      valueAt: () => 1,
    },
  ];
}

/** The page of an exporter after the gap, in which everything broke. */
const afterTheGap = [
  'zlb_up{appliance="lb-stopped"} 1',
  `zlb_farm_status{${farm('lb-stopped')},status="up"} 0`,
  `zlb_farm_status{${farm('lb-stopped')},status="down"} 1`,
  'zlb_up{appliance="lb-dead"} 0',
  'zlb_up{appliance="lb-deaf"} 1',
  `zlb_farm_status{${farm('lb-deaf')},status="up"} 1`,
  `zlb_farm_reachable{${farm('lb-deaf')},${address}} 0`,
];

describe.skipIf(!isThere('promtool'))('a Prometheus outage in which everything broke', () => {
  it.each([40, 180])('is followed by a page for every failure after %s minutes', async (gapMinutes) => {
    const exporter = createServer((_, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(`${afterTheGap.join('\n')}\n`);
    });
    await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void exporter.close());
    const alive = `127.0.0.1:${(exporter.address() as AddressInfo).port}`;
    const dead = `127.0.0.1:${await freePort()}`;
    const folder = givenFolder();
    await writeHistory(folder, rememberedOf(alive, dead), gapMinutes * 60);
    const prometheus = await startPrometheus({
      folder,
      address: `127.0.0.1:${await freePort()}`,
      config: stringify({
        global: { scrape_interval: `${scrapeSeconds}s`, evaluation_interval: `${scrapeSeconds}s` },
        rule_files: ['zlb.rules.yml'],
        scrape_configs: [{ job_name: 'zlb', static_configs: [{ targets: [alive, dead] }] }],
      }),
      files: { 'zlb.rules.yml': hurriedRules },
    });
    onTestFinished(() => prometheus.stop());

    const pages = await until(
      () => pagesOf(prometheus.url),
      (seen) => seen.length >= 4,
      120_000,
    );

    expect(pages).toEqual([
      'ZlbApplianceDown lb-dead',
      `ZlbExporterDown ${dead}`,
      'ZlbFarmDown lb-stopped',
      'ZlbFarmUnreachable lb-deaf',
    ]);
  });
});

/** Writes blocks as Prometheus would have them that was away for so long. */
async function writeHistory(folder: string, remembered: readonly Remembered[], gapSeconds: number): Promise<void> {
  const end = Math.floor(Date.now() / 1_000) - gapSeconds;
  const lines = remembered.flatMap(({ series, everySeconds, valueAt }) =>
    Array.from({ length: historySeconds / everySeconds }, (_, index) => {
      const at = end - historySeconds + index * everySeconds;
      return `${series} ${valueAt(at)} ${at}`;
    }),
  );
  const file = join(folder, 'history.txt');
  await writeFile(file, `${lines.join('\n')}\n# EOF\n`);
  execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', file, join(folder, 'data')], {
    stdio: 'ignore',
  });
}

async function pagesOf(prometheus: string): Promise<readonly string[]> {
  const query = 'ALERTS{alertstate="firing",severity="critical"}';
  const response = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await response.json()) as {
    readonly data: { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] };
  };
  return data.result
    .map(({ metric }) => `${metric['alertname']} ${metric['appliance'] ?? metric['instance']}`)
    .toSorted();
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { readRuleFiles } from '../../scripts/rule-files.ts';
import { impatientRules } from '../../scripts/stack/configuration.ts';
import { ready, startProgram } from '../../scripts/stack/program.ts';
import { givenFolder } from '../support/folder.ts';
import { givenDemonstration } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

interface Alert {
  readonly name: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

const missing = [isThere('victoria-metrics'), isThere('vmalert')].includes(false);
const demonstration = givenDemonstration();

it.skipIf(missing)(
  'vmalert evaluates every rule without an error, and ZlbFarmDown fires',
  async () => {
    const folder = givenFolder();
    const written = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    mkdirSync(join(folder, 'data'));
    const target = new URL(demonstration.url()).host;
    const scrapes = `scrape_configs: [{ job_name: zlb, scrape_interval: 1s, static_configs: [{ targets: ['${target}'] }] }]`;
    const storage = await start('victoria-metrics', '/health', [
      // Shows what was written a moment ago; by default only after 30 s.
      '-search.latencyOffset=1s',
      `-storageDataPath=${join(folder, 'data')}`,
      `-promscrape.config=${written('scrape.yml', scrapes)}`,
    ]);
    const vmalert = await start('vmalert', '/health', [
      `-rule=${written('zlb.rules.yml', impatientRules(readRuleFiles()))}`,
      `-datasource.url=${storage}`,
      `-remoteWrite.url=${storage}`,
      '-notifier.blackhole',
      '-evaluationInterval=2s',
      // Three intervals: a rule meets the recordings of the evaluation before, never of its own.
      '-datasource.queryStep=15s',
      '-rule.evalDelay=1s',
    ]);
    const ask = async <Data>(path: string): Promise<Data> =>
      ((await (await fetch(`${vmalert}/api/v1/${path}`)).json()) as { readonly data: Data }).data;

    await until(
      () => ask<{ readonly alerts: readonly Alert[] }>('alerts'),
      ({ alerts }) => alerts.some(({ name, state }) => name === 'ZlbFarmDown' && state === 'firing'),
      // A farm has to be down for two minutes.
      240_000,
    );

    const { groups } = await ask<{
      readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly lastError?: string }[] }[];
    }>('rules');
    expect(groups.flatMap(({ rules }) => rules.filter(({ lastError }) => lastError))).toEqual([]);
  },
  300_000,
);

/** Starts a program of VictoriaMetrics that ends with the test; returns its address. */
async function start(command: string, page: string, args: readonly string[]): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const program = await startProgram({
    name: command,
    command,
    args: [`-httpListenAddr=${address}`, ...args],
    remedy: 'run npm run test:versions',
  });
  onTestFinished(() => program.stop());
  await ready(program, `http://${address}${page}`);
  return `http://${address}`;
}

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { healthyPair } from '../../simulator/scenes/cluster.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { logged } from '../support/logged-request.ts';
import { startExporter } from '../support/process.ts';
import { seriesOf, valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';
import { freePort } from '../support/free-port.ts';

const seconds = 8;
const line = `<134>Nov 26 04:17:34 lb pound: ${logged({ farm: 'www' })}\n`;

/** Sends lines as fast as it can by TCP and UDP, in a process of its own. */
const flood = `
const [port, seconds, line] = process.argv.slice(1);
const many = Buffer.from(line.repeat(500));
const until = performance.now() + seconds * 1000;
const stream = require('node:net').connect(+port, '127.0.0.1');
const send = () => { while (performance.now() < until && stream.write(many)); };
stream.on('connect', send).on('drain', send).on('error', () => undefined);
const datagrams = require('node:dgram').createSocket('udp4');
const burst = () => {
  for (let count = 0; count < 400; count += 1) datagrams.send(line, +port, '127.0.0.1');
  if (performance.now() < until) setTimeout(burst, 2); else { datagrams.close(); stream.destroy(); }
};
burst();
`;

it('the exporter polls and serves scrapes while an appliance floods it with log lines', async () => {
  const appliance = await startSimulatedAppliance({ world: healthyPair()[0], apiKey: 'canary0123456789' });
  onTestFinished(() => appliance.close());
  const folder = givenFolder();
  const port = await freePort();
  const configuration = join(folder, 'zlb.yml');
  const listen = `127.0.0.1:${port}`;
  writeFileSync(join(folder, 'key'), 'canary0123456789', { mode: 0o600 });
  writeFileSync(
    configuration,
    JSON.stringify({
      requests: { listen_tcp: listen, listen_udp: listen },
      appliances: [
        {
          name: 'lb',
          url: appliance.url,
          api_key_file: join(folder, 'key'),
          tls: { insecure_skip_verify: true },
          requests: { objectives: [{ farm: 'www', availability: '99.9%' }] },
        },
      ],
      collectors: { farms: { schedule: '* * * * * *' } },
    }),
  );
  const held = join(folder, 'held');
  writeFileSync(held, '');
  const exporter = startExporter([`--config.file=${configuration}`, '--web.listen-address=127.0.0.1:0'], {
    LOOP_TIME_FILE: held,
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('../support/loop-time.ts', import.meta.url))}`,
  });
  const url = await exporter.url();
  const page = () => fetch(`${url}/metrics`).then((answer) => answer.text());
  await until(page, (text) => seriesOf(text, 'zlb_farm_status', { farm: 'www' }).length > 0);
  const before = await page();
  const heldBefore = readFileSync(held, 'utf8').length;

  const sender = spawn(process.execPath, ['--eval', flood, String(port), String(seconds), line], { stdio: 'ignore' });
  onTestFinished(() => void sender.kill('SIGKILL'));
  const scrapes: string[] = [];
  while (sender.exitCode === null) {
    scrapes.push(await page());
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const after = await page();

  const runs = (text: string) =>
    valueOf(text, 'zlb_collector_runs_total', { collector: 'farms', outcome: 'success' }) ?? 0;
  const result = (name: string) => valueOf(after, 'zlb_request_log_lines_total', { result: name }) ?? 0;
  const memory = (text: string) => (valueOf(text, 'process_resident_memory_bytes') ?? 0) / 1e6;
  expect(runs(after) - runs(before)).toBeGreaterThan(1);
  expect(result('answer')).toBeGreaterThan(1_000);
  // At most what is read in a second, and one tenth more, in each second of the flood.
  expect(result('answer')).toBeLessThan(25_000 * (scrapes.length + seconds + 2));
  expect(memory(after) - memory(before)).toBeLessThan(100);
  const long = readFileSync(held, 'utf8').slice(heldBefore).split('\n').length - 1;
  expect(long, 'steps of 50 ms of processor time').toBeLessThan(5);
});

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { recordedWorld } from '../../simulator/scenes/recorded.ts';
import { givenGateway } from '../support/given-gateway.ts';
import { givenFolder } from '../support/folder.ts';
import { collectOutput } from '../support/process.ts';
import { until } from '../support/until.ts';
import { judge } from './tools.ts';

const schemathesis = judge('schemathesis');

/** The appliance may be the one that fails: an answer of 5xx that the document names is right. */
const checks = 'status_code_conformance,content_type_conformance,response_schema_conformance';

/** Operations whose body schemathesis cannot write: it knows no application/gzip. */
const uploads = ['uploadOfflinePackages', 'uploadBackup'];

/** Operations for whose texts and files the simulated appliance answers JSON. */
const texts = ['readLicenceText', 'downloadLog', 'downloadLegacySupportBundle', 'downloadLargeSupportBundle'];

describe.skipIf(!schemathesis)('the OpenAPI document of the gateway', () => {
  it('lists every status, type and schema that generated requests get', { timeout: 400_000 }, async () => {
    const { url, tokenOf } = await givenGateway({ 'lb-1': busyWorld(), 'lb-2': recordedWorld() });
    const cwd = givenFolder();
    const configuration = join(cwd, 'schemathesis.toml');
    // A name of no appliance is refused before anything is asked, and everybody after 30 wrong
    // tokens.
    writeFileSync(
      configuration,
      `hooks = "${resolve('test/judges/schemathesis_hooks.py')}"
[parameters]
"path.appliance" = "lb-1"
[generation]
with-security-parameters = false
`,
    );
    const answers = join(cwd, 'answers.har');
    const excluded = [...uploads, ...texts].flatMap((operation) => ['--exclude-operation-id', operation]);
    const address = `run ${url}/docs/openapi.json --url ${url} --tls-verify false`.split(' ');
    const amount =
      '--max-time 100 --phases examples,coverage,fuzzing --max-examples 2 --seed 1 --workers 1 --no-color'.split(' ');
    const token = ['--header', `Authorization: Bearer ${tokenOf('admin')}`];
    const checked = ['--checks', checks, '--continue-on-failure', '--report-har-path', answers];
    const words = ['--config-file', configuration, ...address, ...token, ...checked, ...amount, ...excluded];
    const child = spawn(schemathesis ?? '', words, { cwd });
    onTestFinished(() => void child.kill('SIGKILL'));
    const output = collectOutput(child);
    await until(
      () => child.exitCode,
      (code) => code !== null,
      390_000,
    );
    const statuses = statusesIn(answers);
    console.log(output.stdout().split('\n').slice(-25).join('\n'), statuses);
    expect(child.exitCode, output.stdout()).toBe(0);
    // A good part of the requests gets as far as the appliance, which does what they ask.
    const all = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    expect(statuses['2xx'] ?? 0).toBeGreaterThan(all / 4);
  });
});

/** Counts the answers by the first digit of their status. */
function statusesIn(file: string): Readonly<Record<string, number>> {
  const { log } = JSON.parse(readFileSync(file, 'utf8')) as {
    log: { entries: readonly { readonly response: { readonly status: number } }[] };
  };
  const groups = Object.groupBy(log.entries, ({ response }) => `${Math.floor(response.status / 100)}xx`);
  return Object.fromEntries(Object.entries(groups).map(([status, entries = []]) => [status, entries.length]));
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { startAdminExporter, writeAdminConfig } from '../support/admin-exporter.ts';
import { givenFolder } from '../support/folder.ts';
import { holdFile } from '../support/held-file.ts';
import { recordsOf } from '../support/journal-file.ts';
import { startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { recordedWithoutProbes } from '../support/simulated-farms.ts';
import { until } from '../support/until.ts';

/** Writes a configuration with a gateway whose appliance has its key in a file of its own. */
async function givenKeyFile() {
  const apiKey = 'key-of-the-appliance';
  const appliance = await startSimulatedAppliance({ world: recordedWithoutProbes(), apiKey });
  onTestFinished(() => appliance.close());
  const folder = givenFolder();
  const { token, sha256 } = makeToken();
  const journalFile = join(folder, 'journal.db');
  const file = writeAdminConfig(folder, { appliance, names: ['lb-1'], apiKey, sha256, journalFile });
  const keyFile = join(folder, 'lb-1.key');
  writeFileSync(keyFile, apiKey);
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace('"api_key":"key-of-the-appliance"', `"api_key_file":"${keyFile}"`),
  );
  return { file, keyFile, journalFile, token };
}

describe.runIf(isThere('perl'))('a file that hangs', () => {
  it('does not keep SIGTERM from stopping the exporter with 0 in time, with an intact journal', async () => {
    const { file, keyFile, journalFile, token } = await givenKeyFile();
    const exporter = await startAdminExporter(file);
    const answer = await fetch(`${exporter.adminUrl}/appliances/lb-1/monitoring/fg`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"name":"check-1"}',
    });
    const { awaited } = await holdFile(keyFile);
    process.kill(exporter.pid, 'SIGHUP');
    await awaited();

    const startedAt = performance.now();
    const code = await exporter.stop('SIGTERM');

    expect({ code, messages: exporter.log().map(({ msg }) => msg) }).toEqual({
      code: 0,
      messages: expect.arrayContaining(['stopping', 'journal closed']) as string[],
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(answer.ok).toBe(true);
    expect((await recordsOf(journalFile)).map(({ event }) => event)).toContain('outcome');
  });

  it('does not keep SIGTERM from stopping an exporter during its start', async () => {
    const { file, keyFile } = await givenKeyFile();
    const { awaited } = await holdFile(keyFile);
    const exporter = startExporter([`--config.file=${file}`, '--web.listen-address=127.0.0.1:0']);
    await awaited();

    const { code, ms } = await exporter.stop('SIGTERM');

    expect({ code, stderr: exporter.stderr() }).toEqual({ code: 0, stderr: '' });
    expect(ms).toBeLessThan(5_000);
  });

  it('does not keep check from exiting after its message', async () => {
    const { file, keyFile } = await givenKeyFile();
    await holdFile(keyFile);

    const check = startExporter(['check', `--config.file=${file}`]);
    await until(check.stderr, (seen) => seen.includes('nothing came within 10 s'));

    const { code, ms } = await check.ended();

    expect(code).toBe(2);
    expect(ms).toBeLessThan(5_000);
  });

  it('does not keep a crash from ending the exporter', async () => {
    const { file, keyFile } = await givenKeyFile();
    const { awaited } = await holdFile(keyFile);
    const crash = join(givenFolder(), 'crash.mjs');
    writeFileSync(crash, "process.once('SIGUSR2', () => { throw new Error('a bug'); });");
    const exporter = startExporter(['check', `--config.file=${file}`], { NODE_OPTIONS: `--import=${crash}` });
    await awaited();

    const { code } = await exporter.stop('SIGUSR2');

    expect({ code, stderr: exporter.stderr() }).toEqual({
      code: 1,
      stderr: expect.stringContaining('a bug') as string,
    });
  });
});

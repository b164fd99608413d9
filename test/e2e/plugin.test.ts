import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { runExporter, startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

const apiKey = 'canary0123456789';

/** An exporter that reads the farms of a busy appliance each second. */
async function givenExporter() {
  const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey });
  onTestFinished(() => appliance.close());
  const folder = givenFolder();
  const { url, fingerprintSha256 } = appliance;
  const everySecond = { schedule: '* * * * * *' };
  const configuration = {
    appliances: [{ name: 'lb-1', url, api_key: apiKey, tls: { fingerprint_sha256: fingerprintSha256 } }],
    collectors: { farms: everySecond, backends: everySecond },
    polling: { max_busy_ratio: 1, jitter: 0 },
  };
  writeFileSync(join(folder, 'zlb.yml'), JSON.stringify(configuration));
  const exporter = startExporter([`--config.file=${join(folder, 'zlb.yml')}`, '--web.listen-address=127.0.0.1:0']);
  const printed = await until(
    () => /https?:\/\/127\.0\.0\.1:\d+/.exec(exporter.stdout() + exporter.stderr()),
    (found) => found !== null,
  );
  const exporterUrl = printed?.[0] ?? '';
  const check = (...words: readonly string[]) => runExporter(['plugin', ...words], { ZLB_EXPORTER_URL: exporterUrl });
  return { exporter, appliance, check };
}

describe('the plug-in', () => {
  it('judges by the readings of an exporter, and never by old ones', async () => {
    const { appliance, exporter, check } = await givenExporter();
    const intranet = () => check('farm', 'lb-1', 'intranet');

    await until(intranet, ({ code }) => code === 0);
    expect(await intranet()).toMatchObject({
      stdout: expect.stringMatching(/^OK - 1 farm of lb-1: .* \| farms=1 /),
    });
    expect(await check('farm', 'lb-1', 'legacy')).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('CRITICAL - farm legacy is critical'),
      stderr: '',
    });
    expect(await check('connections', 'lb-1', 'shop', '-w', '1', '-c', '2')).toMatchObject({ code: 2 });
    expect(await check('farm', 'lb-2')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^UNKNOWN - .* lb-2\n$/),
    });

    await appliance.close();
    const silent = await until(intranet, ({ stdout }) => stdout.includes('of farms is'), 20_000);
    expect(silent).toMatchObject({ code: 3, stdout: expect.stringMatching(/^UNKNOWN - lb-1: .* old/) });

    await exporter.stop('SIGTERM');
    expect(await intranet()).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^UNKNOWN - the exporter at .* gave no answer/),
    });
  }, 60_000);
});

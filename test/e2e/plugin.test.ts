import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { genSaltSync, hashSync } from 'bcryptjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { startSimulatedAppliance } from '../../simulator/server.ts';
import { givenFolder } from '../support/folder.ts';
import { makeAuthority } from '../support/authority.ts';
import { runExporter, startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

const apiKey = 'canary0123456789';
const password = 'CanaryPassword0123';

/** An exporter that reads the farms of a busy appliance each second. */
async function givenExporter(web: Readonly<Record<string, string>> = {}) {
  const appliance = await startSimulatedAppliance({ world: busyWorld(), apiKey });
  onTestFinished(() => appliance.close());
  const folder = givenFolder();
  const { url, fingerprintSha256 } = appliance;
  const everySecond = { schedule: '* * * * * *' };
  const files = {
    ...web,
    'zlb.yml': JSON.stringify({
      appliances: [{ name: 'lb-1', url, api_key: apiKey, tls: { fingerprint_sha256: fingerprintSha256 } }],
      collectors: { farms: everySecond, backends: everySecond },
      polling: { max_busy_ratio: 1, jitter: 0 },
    }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const exporter = startExporter([
    `--config.file=${join(folder, 'zlb.yml')}`,
    '--web.listen-address=127.0.0.1:0',
    ...(web['web.yml'] === undefined ? [] : [`--web.config.file=${join(folder, 'web.yml')}`]),
  ]);
  const printed = await until(
    () => /https?:\/\/127\.0\.0\.1:\d+/.exec(exporter.stdout() + exporter.stderr()),
    (found) => found !== null,
  );
  const exporterUrl = printed?.[0] ?? '';
  const check = (...words: readonly string[]) => runExporter(['plugin', ...words], { ZLB_EXPORTER_URL: exporterUrl });
  return { exporter, appliance, folder, url: exporterUrl, check };
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

  it('goes through TLS and a password that is in a file', async () => {
    const authority = makeAuthority();
    const { key, cert } = authority.issue('IP:127.0.0.1');
    const hash = hashSync(password, genSaltSync(6));
    const { folder, check } = await givenExporter({
      'server.crt': cert,
      'server.key': key,
      'ca.crt': authority.cert,
      'user.txt': `icinga:${password}\n`,
      'web.yml': `tls_server_config: { cert_file: server.crt, key_file: server.key }\nbasic_auth_users: { icinga: ${hash} }\n`,
    });
    const ca = `--exporter.ca-file=${join(folder, 'ca.crt')}`;
    const user = `--exporter.user-file=${join(folder, 'user.txt')}`;

    await until(
      () => check('farm', 'lb-1', 'intranet', ca, user),
      ({ code }) => code === 0,
    );
    expect(await check('farm', 'lb-1', ca)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('refuses the user'),
    });
    const untrusted = await check('farm', 'lb-1', user);
    expect(untrusted).toMatchObject({ code: 3, stdout: expect.stringContaining('gave no answer') });
    expect(untrusted.stdout + untrusted.stderr).not.toContain(password);
  }, 60_000);

  it('is UNKNOWN on standard output for a wrong call', async () => {
    expect(await runExporter(['plugin'])).toEqual({
      code: 3,
      stdout: 'UNKNOWN - which check? they are appliance, farm, connections, certificate, activation\n',
      stderr: '',
    });
  });
});

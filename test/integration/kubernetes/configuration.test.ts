import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../src/app/load-settings.ts';
import { givenFolder } from '../../support/folder.ts';
import { startExporter } from '../../support/process.ts';
import { until } from '../../support/until.ts';

const overlay = 'deploy/kubernetes/overlays/single';
const base = 'deploy/kubernetes/base';

type Files = Readonly<Record<string, string>>;

/**
 * A volume as the kubelet makes it: what is seen are links into a folder that a link called
 * `..data` names, and a change is another folder and another link, moved into its place.
 */
function givenVolume(files: Files): { readonly folder: string; change(files: Files): void } {
  const folder = givenFolder();
  let revision = 0;
  const write = (contents: Files): void => {
    const before = `..revision_${revision}`;
    revision += 1;
    const name = `..revision_${revision}`;
    mkdirSync(join(folder, name));
    for (const [file, text] of Object.entries(contents)) writeFileSync(join(folder, name, file), text);
    symlinkSync(name, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    rmSync(join(folder, before), { recursive: true, force: true });
  };
  write(files);
  for (const file of Object.keys(files)) symlinkSync(`..data/${file}`, join(folder, file));
  return { folder, change: write };
}

/** Creates the two volumes of the pod of overlays/single, with keys of this test. */
function givenPod(): {
  readonly configuration: ReturnType<typeof givenVolume>;
  readonly files: Files;
  /** A list of appliances as the overlay has one, with other names. */
  naming(...names: readonly string[]): string;
} {
  const keys = givenVolume({ 'lb-paris': 'not-a-key\n' });
  const appliances = readFileSync(`${overlay}/appliances.yml`, 'utf8').replaceAll('/run/secrets', keys.folder);
  const files = { 'zlb.yml': readFileSync(`${base}/zlb.yml`, 'utf8'), 'appliances.yml': appliances };
  return {
    configuration: givenVolume(files),
    files,
    naming: (...names) => names.map((name) => appliances.replace('name: lb-paris', `name: ${name}`)).join('\n'),
  };
}

describe('the configuration in Kubernetes', () => {
  it('is accepted by the exporter, and read again when a ConfigMap changes, without a restart', async () => {
    const { configuration, files, naming } = givenPod();
    const exporter = startExporter([
      `--config.file=${configuration.folder}/zlb.yml`,
      '--web.listen-address=127.0.0.1:0',
    ]);
    const url = await exporter.url();
    const names = async (): Promise<string> =>
      ((await (await fetch(`${url}/sd`)).text()).match(/(?<="__param_target":")[\w-]+/g) ?? []).join(' ');
    expect(await names()).toBe('lb-paris');

    configuration.change({ ...files, 'appliances.yml': naming('lb-paris', 'lb-madrid') });

    await until(names, (seen) => seen === 'lb-paris lb-madrid', 20_000);
    expect((await exporter.stop('SIGTERM')).code).toBe(0);
  });

  it('may have the gateway of its README', async () => {
    const { configuration, files } = givenPod();
    const readme = readFileSync('deploy/kubernetes/README.md', 'utf8');
    const [, gateway = ''] = /```yaml\n(admin:\n.+?)```/s.exec(readme) ?? [];
    configuration.change({ ...files, 'zlb.yml': `${files['zlb.yml']}${gateway}` });

    const settings = await loadSettings({
      file: join(configuration.folder, 'zlb.yml'),
      env: {},
    });

    expect(settings.admin?.auditFile).toBe('/var/lib/zlb-exporter/audit.jsonl');
    expect(settings.admin?.listenAddress).toBe('127.0.0.1:9445');
  });
});

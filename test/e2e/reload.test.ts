import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givenFolder } from '../support/folder.ts';
import { startExporter } from '../support/process.ts';
import { until } from '../support/until.ts';

/** Appliances that nobody answers for: what is watched is seen without them. */
const naming = (...names: readonly string[]): string =>
  JSON.stringify({
    appliances: names.map((name) => ({ name, url: 'https://127.0.0.1:9', api_key: 'not-needed-here' })),
  });

function givenConfig(): { readonly file: string; write: (text: string) => void } {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  const write = (text: string): void => writeFileSync(file, text);
  write(naming('one'));
  return { file, write };
}

describe('a running exporter', () => {
  it('loads its configuration at SIGHUP, keeps the last good one, and still exits with 0', async () => {
    const { file, write } = givenConfig();
    const exporter = startExporter([`--config.file=${file}`, '--web.listen-address=127.0.0.1:0']);
    const url = await exporter.url();
    const names = async (): Promise<string> =>
      ((await (await fetch(`${url}/sd`)).text()).match(/(?<="__param_target":")\w+/g) ?? []).join(' ');
    expect(await names()).toBe('one');

    write(naming('one', 'two'));
    exporter.signal('SIGHUP');
    await until(names, (seen) => seen === 'one two');

    write('nonsense');
    exporter.signal('SIGHUP');
    await until(
      () => exporter.stdout() + exporter.stderr(),
      (output) => output.includes('configuration refused'),
    );
    expect(await names()).toBe('one two');
    const refused = await fetch(`${url}/-/reload`, { method: 'POST' });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      'Reloading by HTTP is off. Start with --web.enable-lifecycle, or send SIGHUP.\n',
    ]);
    expect((await exporter.stop('SIGTERM')).code).toBe(0);
  });

  it('loads it by HTTP if that is enabled', async () => {
    const { file, write } = givenConfig();
    const exporter = startExporter([
      `--config.file=${file}`,
      '--web.listen-address=127.0.0.1:0',
      '--web.enable-lifecycle',
    ]);
    const url = await exporter.url();
    write(naming('other'));

    const answer = await fetch(`${url}/-/reload`, { method: 'POST' });

    expect([answer.status, await answer.text()]).toEqual([
      200,
      'Reloaded: of the appliances 1 added, 0 changed, 1 removed.\n',
    ]);
  });
});

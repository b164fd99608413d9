import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../../src/commands/run.ts';
import { freePort } from '../../support/free-port.ts';
import { givenFolder } from '../../support/folder.ts';
import { until } from '../../support/until.ts';
import { givenContext } from '../../unit/commands/given-command.ts';

const naming = (...names: readonly string[]): string =>
  JSON.stringify({ appliances: names.map((name) => ({ name, url: 'https://127.0.0.1:9', api_key: '${KEY}' })) });

it('a SIGHUP during the start is not lost', async () => {
  const folder = givenFolder();
  const file = join(folder, 'zlb.yml');
  writeFileSync(file, naming('one'));
  const port = await freePort();
  const stopping = new AbortController();
  let hangUp = (): void => undefined;
  const { context } = givenContext({
    flags: {
      'config.file': file,
      'web.listen-address': `127.0.0.1:${port}`,
      'log.level': 'fatal',
      'log.format': 'json',
    },
    env: {
      // Asked for when the file was read, and before anything runs.
      get KEY() {
        writeFileSync(file, naming('one', 'two'));
        hangUp();
        hangUp = () => undefined;
        return 'not-needed-here';
      },
    },
    stopped: stopping.signal,
    onHangup: (listener) => {
      hangUp = listener;
    },
  });

  const ended = run(context);
  const watched = await until(
    async () => await (await fetch(`http://127.0.0.1:${port}/sd`).catch(() => undefined))?.text(),
    (seen) => seen?.includes('"two"') ?? false,
  );
  stopping.abort();

  expect(watched).toContain('"one"');
  expect(await ended).toBe(0);
});

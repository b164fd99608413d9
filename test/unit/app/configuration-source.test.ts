import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Configuration, ConfigurationSource } from '../../../src/app/configuration-source.ts';
import type { Files } from '../../../src/config/files.ts';
import { ConfigError } from '../../../src/config/problems.ts';
import { givenFolder } from '../../support/folder.ts';

/** A source of a main file that names one file with a key; a key `bad` is refused. */
function givenSource() {
  const folder = givenFolder();
  const [main, key] = [join(folder, 'zlb.yml'), join(folder, 'key')];
  writeFileSync(main, 'appliances: []');
  writeFileSync(key, 'first');
  const loaded: string[] = [];
  const source = new ConfigurationSource([main], async (files: Files) => {
    await files.readText(main, 'configuration');
    const text = await files.readText(key, 'key');
    if ('error' in text || text.value === 'bad') throw new ConfigError([]);
    loaded.push(text.value);
    return {} as Configuration;
  });
  return {
    loaded,
    load: () => source.load(),
    loadChanged: async () => {
      const changed = await source.loadChanged();
      if (changed) source.markActive();
      return changed !== undefined;
    },
    setKey: (text: string) => writeFileSync(key, text),
  };
}

it('a changed file with an error is refused once, and not again until it changes', async () => {
  const { loaded, load, loadChanged, setKey } = givenSource();
  await load();

  setKey('bad');
  await expect(loadChanged()).rejects.toThrow(ConfigError);
  expect(await loadChanged()).toBe(false);
  setKey('second');
  expect(await loadChanged()).toBe(true);

  expect(loaded).toEqual(['first', 'second']);
});

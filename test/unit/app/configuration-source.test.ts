import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Configuration, createConfigurationSource } from '../../../src/app/reloading.ts';
import type { Files } from '../../../src/config/files.ts';
import { ConfigError } from '../../../src/config/problems.ts';
import { givenFolder } from '../../support/folder.ts';

/** A source of a main file that names one file with a key; a key `bad` is refused. */
function givenSource() {
  const folder = givenFolder();
  const [main, key] = [join(folder, 'zlb.yml'), join(folder, 'key')];
  writeFileSync(main, 'appliances: []');
  writeFileSync(key, 'first');
  const applied: string[] = [];
  const source = createConfigurationSource([main], async (files: Files) => {
    await files.readText(main, 'configuration');
    const text = await files.readText(key, 'key');
    if ('problem' in text || text.value === 'bad') throw new ConfigError([]);
    applied.push(text.value);
    return {} as Configuration;
  });
  const apply = () => Promise.resolve('applied');
  return {
    applied,
    read: () => source.read(apply),
    readChanged: () => source.readChanged(apply),
    setKey: (text: string) => writeFileSync(key, text),
  };
}

it('a changed file with an error is refused once, and not again until it changes', async () => {
  const { applied, read, readChanged, setKey } = givenSource();
  await read();

  setKey('bad');
  await expect(readChanged()).rejects.toThrow(ConfigError);
  expect(await readChanged()).toBeUndefined();
  setKey('second');
  expect(await readChanged()).toBe('applied');

  expect(applied).toEqual(['first', 'second']);
});

import { describe, expect, it } from 'vitest';
import { allFlags } from '../../../src/commands/flags.ts';
import { swallowedFlags } from '../../../src/commands/npm-flags.ts';

const npm = { npm_package_name: 'zlb-exporter', npm_lifecycle_event: 'start' };
const lineOf = (words: readonly string[], env: Readonly<Record<string, string>>) =>
  swallowedFlags({ words, env: { ...npm, ...env }, flags: Object.fromEntries(allFlags) })?.split('\n  ')[1];

describe('flags that npm took', () => {
  it.each([...allFlags.keys()].filter((name) => !['help', 'version', 'yes'].includes(name)))(
    'are noticed: --%s',
    (name) => {
      const env = { [`npm_config_${name.replaceAll('-', '_')}`]: 'true' };

      expect(lineOf(['admin', 'lb-1'], env)).toMatch(
        allFlags.get(name)?.example === undefined
          ? `npm start -- admin lb-1 --${name}`
          : `npm start -- admin --${name}=lb-1`,
      );
    },
  );

  it('are noticed where the shell drops names with a dot', () => {
    const env = { npm_dotted_flags: 'npm_config_config.file=/etc/a b=c.yml\nnpm_config_web.listen_address=:1' };

    expect(lineOf([], env)).toBe("npm start -- --config.file='/etc/a b=c.yml' --web.listen-address=:1");
  });

  it.each([
    [['zlb.yml'], { 'npm_config_config.file': 'true' }, 'npm start -- --config.file=zlb.yml'],
    [['check', 'my.yml'], { 'npm_config_config.file': 'true' }, 'npm start -- check --config.file=my.yml'],
    [['check'], { 'npm_config_config.file': '' }, 'npm start -- check --config.file=zlb.yml'],
    [['check'], { npm_config_config_file: 'my.yml' }, 'npm start -- check --config.file=my.yml'],
    [['check'], { 'npm_config_confg.file': 'my.yml' }, 'npm start -- check --confg.file=my.yml'],
    [['check', '--config.file=a.yml'], { 'npm_config_config.file': 'my.yml' }, undefined],
    [['token'], { npm_config_json: 'true', npm_config_yes: 'true', npm_config_cache: '/x' }, undefined],
    [['check'], { npm_config_json: 'true', npm_config_force: 'true' }, 'npm start -- check --json'],
    [['deliver'], { npm_config_dry_run: 'true' }, 'npm start -- deliver --dry-run'],
    [['admin', 'whoami'], { npm_config_yes: 'true', npm_config_json: '' }, undefined],
    [['admin', 'x'], { npm_config_yes: 'true', npm_config_json: 'true' }, 'npm start -- admin x --yes --json'],
  ])('%j with %j is %s', (words, env, line) => {
    expect(lineOf(words, env)?.split(' ').toSorted()).toEqual(line?.split(' ').toSorted());
  });

  it('are those of this package alone', () => {
    const taken = { 'npm_config_config.file': 'x' };

    for (const env of [
      taken,
      { ...npm, ...taken, npm_lifecycle_event: 'test' },
      { ...npm, ...taken, npm_package_name: 'another' },
    ])
      expect(swallowedFlags({ words: [], env, flags: Object.fromEntries(allFlags) })).toBeUndefined();
  });
});

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/commands/commands.ts';
import { allFlags } from '../../../src/commands/flags.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../../../scripts/release/completions.ts';
import { manPage } from '../../../scripts/release/man-page.ts';
import { isThere } from '../../support/programs.ts';

/** The words that bash offers at the end of a line. */
function offered(...words: readonly string[]): readonly string[] {
  const line = words.map((word) => `'${word}'`).join(' ');
  const script = `${bashCompletion()}
compopt() { :; }
COMP_WORDS=(${line}) COMP_CWORD=$((${words.length} - 1))
_zlb_exporter
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

describe('the completion', () => {
  it('offers commands, and flags of the exporter, as the first word', () => {
    expect(offered('zlb-exporter', '')).toEqual(expect.arrayContaining(['check', 'init', 'admin', '--config.file=']));
    expect(offered('zlb-exporter', 'fi')).toEqual(['fingerprint']);
  });

  it('offers the flags that a command takes, and no others', () => {
    expect(offered('zlb-exporter', 'init', '--')).toEqual(
      expect.arrayContaining(['--name=', '--append', '--config.file=']),
    );
    expect(offered('zlb-exporter', 'init', '--')).not.toContain('--json');
    expect(offered('zlb-exporter', 'check', '--js')).toEqual(['--json']);
  });

  it('offers files as values', () => {
    expect(offered('zlb-exporter', '--config.file', '=', 'package.j')).toEqual(['package.json']);
  });

  it('names each flag in each shell', () => {
    const names = [...allFlags.keys()];

    for (const text of [bashCompletion(), zshCompletion()])
      expect(names.filter((name) => !text.includes(`--${name}`))).toEqual([]);
    expect(names.filter((name) => !fishCompletion().includes(` -l ${name}`))).toEqual([]);
  });
});

describe('the manual page', () => {
  it('has the text of --help for each command', () => {
    const page = manPage('1.2.3').replaceAll('\\-', '-').replaceAll('\\&', '').replaceAll('\\e', '\\');

    for (const { help } of Object.values(commands)) expect(page).toContain(help);
  });

  it.skipIf(!isThere('man'))('is a page that man has nothing against', () => {
    // man refuses to be run with a library of somebody else.
    const { LD_PRELOAD: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', '-'], {
      input: manPage('1.2.3'),
      encoding: 'utf8',
      env: { ...env, MANPAGER: 'cat', LC_ALL: 'C.UTF-8', MANWIDTH: '110' },
    });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('--api-key-file=FILE');
  });
});

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { recipes } from '../../../src/admin/recipes/recipes.ts';
import { endpoints } from '../../../src/appliance/api/table.ts';
import { completionOf } from '../../../src/commands/completion/completion.ts';
import { shells } from '../../../src/commands/completion/places.ts';
import { commands } from '../../../src/commands/commands.ts';
import { allFlags } from '../../../src/commands/parse-flags.ts';
import { givenContext } from './given-command.ts';

/** The words that bash offers at the end of a line. */
function offered(...words: readonly string[]): readonly string[] {
  const line = ['zlb-exporter', ...words].map((word) => `'${word}'`).join(' ');
  const script = `${completionOf.bash()}
compopt() { :; }
COMP_WORDS=(${line}) COMP_CWORD=${words.length}
_zlb_exporter
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

it('completion offers the commands as the first word, and as arguments of help', () => {
  expect(offered('')).toEqual(Object.keys(commands).toSorted());
  expect(offered('help', '')).toEqual(Object.keys(commands).toSorted());
  expect(offered('fi')).toEqual(['fingerprint']);
});

it('completion offers the arguments of admin, plugin, audit and completion', () => {
  expect(offered('admin', '')).toEqual(expect.arrayContaining(['operations', 'changes', 'freeze', 'whoami']));
  expect(offered('admin', 'changes', '')).toEqual(['list', 'show', 'approve', 'deny', 'cancel']);
  expect(offered('admin', 'lb-paris', '')).toEqual([...recipes.map(({ name }) => name), ...Object.keys(endpoints)]);
  expect(offered('admin', 'parameters', 'lb-paris', 'createF')).toEqual(expect.arrayContaining(['createFarm']));
  expect(offered('plugin', 'c')).toEqual(['connections', 'certificate']);
  expect(offered('audit', '')).toEqual(['verify', 'export']);
  expect(offered('completion', '')).toEqual([...shells]);
});

it('completion does not treat the value of a flag as an argument', () => {
  expect(offered('--log.level', '=', 'info', 'che')).toEqual(['check']);
  expect(offered('--log.level', 'info', 'che')).toEqual(['check']);
  expect(offered('plugin', '-w', '30', 'f')).toEqual(['farm']);
});

it('completion offers the flags that a command accepts, and no others', () => {
  expect(offered('--conf')).toEqual(['--config.file=']);
  expect(offered('init', '--')).toEqual(expect.arrayContaining(['--name=', '--append', '--config.file=']));
  expect(offered('init', '--')).not.toContain('--json');
  expect(offered('check', '--js')).toEqual(['--json']);
  expect(offered('token', '--')).toEqual(['--version', '--help']);
});

it('completion offers the values of a flag, or files', () => {
  expect(offered('--log.level', '=')).toEqual(['debug', 'info', 'warn', 'error']);
  expect(offered('--log.format', 'l')).toEqual(['logfmt']);
  expect(offered('admin', 'audit', '--event', '=', 'den')).toEqual(['denied']);
  expect(offered('simulate', '--fault', '=', 'lb-madrid/ref')).toEqual(['lb-madrid/refused']);
  expect(offered('simulate', '--fault', '=', 'lb-madrid/hung-proxy/sho')).toEqual(['lb-madrid/hung-proxy/shop']);
  expect(offered('--config.file', '=', 'package.j')).toEqual(['package.json']);
  expect(offered('audit', 'verify', 'package.j')).toEqual(['package.json']);
  expect(offered('init', '--name', '=', '')).toEqual([]);
});

it('completion names each flag in each shell', () => {
  const names = [...allFlags.keys()];

  for (const text of [completionOf.bash(), completionOf.zsh()])
    expect(names.filter((name) => !text.includes(`--${name}`))).toEqual([]);
  expect(names.filter((name) => !completionOf.fish().includes(` -l ${name}`))).toEqual([]);
});

it('completion prints the script of a supported shell, and lists the shells for another', async () => {
  const { context, written, warned } = givenContext({});

  expect(await runCommandLine(['completion', 'zsh'], context)).toBe(0);
  expect(Buffer.concat(written).toString()).toBe(completionOf.zsh());
  expect(await runCommandLine(['completion', 'tcsh'], context)).toBe(2);
  expect(warned).toEqual(['zlb-exporter: name one shell of bash, fish, zsh: zlb-exporter completion bash']);
});

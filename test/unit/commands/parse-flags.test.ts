import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli.ts';
import { recipes } from '../../../src/admin/recipes/recipes.ts';
import { commands } from '../../../src/commands/commands.ts';
import { givenContext } from './given-command.ts';

async function run(words: readonly string[]) {
  const { context, said, warned } = givenContext({});
  const code = await runCommandLine(words, context);
  return { code, said: said.join('\n'), warned };
}

describe('the command line', () => {
  it.each([
    [['--config.file'], '--config.file needs a value, such as --config.file=zlb.yml'],
    [['--config.file', '--help'], '--config.file needs a value, such as --config.file=zlb.yml'],
    [['--config.file='], '--config.file is empty; give it a value, such as --config.file=zlb.yml, or leave it out'],
    [['--config.file', ''], '--config.file is empty; give it a value, such as --config.file=zlb.yml, or leave it out'],
    [
      ['--web.listen-address='],
      '--web.listen-address is empty; give it a value, such as --web.listen-address=:9444, or leave it out',
    ],
    [['--web.listen-address=nonsense'], '--web.listen-address must be host:port or :port, for example :9444'],
    [['--log.level=loud'], '--log.level must be one of debug, info, warn, error'],
    [['--log.format=xml'], '--log.format must be one of json, logfmt'],
    [
      ['--shard=3/3'],
      '--shard must be INDEX/COUNT with an index from 0, as pods are counted: of three shards the last is 2/3 (1000 at most)',
    ],
    [['--shard=0/2'], '--shard divides the appliances of a configuration: give --config.file=PATH as well'],
    [
      ['simulate', '--shard=0/2'],
      '--shard is for the exporter itself and not valid with simulate; see simulate --help',
    ],
    [['--help=yes'], '--help takes no value'],
    [['--no-such.flag=f1x7ure'], 'there is no flag --no-such.flag; --help lists them'],
    [['--config.fil=f1x7ure'], 'there is no flag --config.fil; did you mean --config.file? --help lists them'],
    [['-config.file=f1x7ure'], 'flags have two hyphens: --config.file'],
    [['check', '-config.file', 'f1x7ure'], 'flags have two hyphens: --config.file'],
    [['-config=f1x7ure'], 'flags have two hyphens: --config.file'],
    [['--config=f1x7ure'], 'there is no flag --config; did you mean --config.file? --help lists them'],
    [
      ['--listen-address=:1'],
      'there is no flag --listen-address; did you mean --web.listen-address? --help lists them',
    ],
    [['--__proto__=x'], 'there is no flag --__proto__; --help lists them'],
    [['-x'], 'there is no flag -x; --help lists them'],
    [['-hx'], 'there is no flag -x; --help lists them'],
    [['--a\u001b[2J\nb'], 'there is no flag --a [2J b; --help lists them'],
    [['--dry-run'], '--dry-run is only valid with zlb-exporter admin; zlb-exporter admin --help explains it'],
    [['check', '--reason=x'], '--reason is only valid with zlb-exporter admin; zlb-exporter admin --help explains it'],
    [
      ['admin', 'whoami', '--config.file=x'],
      '--config.file is for the exporter itself and not valid with admin; see admin --help',
    ],
    [['admin', 'lb-1', 'listFarms', '--dry-run=no'], '--dry-run takes no value'],
    [['admin', 'lb-1', 'restart-farm', '--wait=soon'], '--wait must be a duration such as 90s or 5m'],
    [['deliver', '--json'], '--json is not valid with deliver; zlb-exporter deliver --help explains it'],
    [['deliver', '--wait=soon'], '--wait must be a duration such as 90s or 5m'],
    [['admin', '--body='], '--body is empty; give it a value, such as --body=@FILE, or leave it out'],
    [
      ['admin', 'whoami', '--admin.token=f1x7ure'],
      'a token must not be on the command line, where other users of the machine see it; put it into a file and give --admin.token-file=PATH, or set ZLB_ADMIN_TOKEN_FILE',
    ],
    [['constructor'], 'there is no command "constructor"; --help lists them'],
    [['reload', '--help'], 'there is no command "reload"; --help lists them'],
    [['chek', '-h'], 'there is no command "chek"; did you mean check? --help lists them'],
    [['help', 'reload'], 'there is no command "reload"; --help lists them'],
    [['reload', '--version'], 'there is no command "reload"; --help lists them'],
    [['chek'], 'there is no command "chek"; did you mean check? --help lists them'],
    [['fingerprint'], 'name one server: zlb-exporter fingerprint HOST[:PORT]'],
    [
      ['init', '192.0.2.10:web'],
      'the address must be HOST or HOST:PORT, such as 192.0.2.10:444 or [2001:db8::10]:444; the port is a number up to 65535',
    ],
    [['check'], 'nothing to check: give --config.file=PATH, or set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE'],
    [['token', 'alice'], 'token takes no arguments; token --help shows how it is called'],
  ])('refuses %j in one line with the right form', async (words, line) => {
    expect(await run(words)).toEqual({ code: 2, said: '', warned: [`zlb-exporter: ${line}`] });
  });

  it.each(Object.keys(commands))('explains %s for "help" and for --help', async (command) => {
    const { said } = await run([command, '--help']);

    expect(await run(['help', command])).toMatchObject({ code: 0, said });
  });

  it('fits its flags on a screen, and those of a command on one with an example', async () => {
    const others = Object.keys(commands).filter((command) => command !== 'admin');
    for (const words of [['--help'], ['help'], ...others.map((command) => [command, '--help'])]) {
      const { code, said } = await run(words);

      const lines = said.split('\n');
      expect(code).toBe(0);
      expect(lines.length, words.join(' ')).toBeLessThanOrEqual(24);
      expect(Math.max(...lines.map(({ length }) => length)), words.join(' ')).toBeLessThanOrEqual(80);
      if (words.length > 1) expect(said).toMatch(/^Examples?\n {2}.*zlb-exporter/m);
    }
  });

  it('lists the flags of admin on a longer page', async () => {
    for (const words of [['admin'], ['admin', '--help'], ['admin', 'lb-1', '-h', '--force']]) {
      const { code, said } = await run(words);

      const lines = said.split('\n');
      expect(code).toBe(0);
      expect(lines.length).toBeLessThanOrEqual(40);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
    }
  });

  it.each([['-h'], ['--help'], ['help']])('explains itself and names each command for %s', async (...words) => {
    const { code, said } = await run(words);

    const named = [...said.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
    expect(code).toBe(0);
    expect(said).toMatch(/^Usage: zlb-exporter[^]*-h, --help/);
    expect(new Set(named)).toEqual(new Set(Object.keys(commands)));
  });
});

it('the help of admin names every recipe with its parameters', () => {
  const lines = commands.admin.help.split('\n');
  const missing = recipes.flatMap(({ name, parameters, files = {} }) => {
    const line = lines.find((each) => each.startsWith(`  ${name} `)) ?? '';
    return [...Object.keys(parameters), ...Object.keys(files)].filter((each) => !line.includes(`${each}=`));
  });

  expect(missing).toEqual([]);
});

import { shellWord } from '../lib/text.ts';
import { flagsOf, isCommand } from './commands.ts';

interface NpmRun {
  /** The words that npm passed on. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Each flag with an example of its value; a flag without an example takes no value. */
  readonly flags: Readonly<Record<string, { readonly example?: string; readonly type?: string }>>;
}

const scripts: readonly (string | undefined)[] = ['start', 'simulate', 'stack'];
/** Flags that npm has too. They stop only a command that takes them. */
const alsoFlagsOfNpm: readonly string[] = ['dry-run', 'force', 'json', 'yes'];

/**
 * Returns what is wrong and what to type instead when npm took flags for itself because they stand
 * before its `--`. Returns undefined when it took none, or when this is no script of this package.
 */
export function swallowedFlags({ words, env, flags }: NpmRun): string | undefined {
  const script = env.npm_lifecycle_event;
  if (env.npm_package_name !== 'zlb-exporter' || !scripts.includes(script)) return undefined;
  const taken = [...takenByNpm(env, Object.keys(flags))].filter(
    ([name]) =>
      (!alsoFlagsOfNpm.includes(name) || takes(words[0] ?? '', name)) &&
      !words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`)),
  );
  // `yes` alone stops nothing: many users have it in their settings of npm.
  if (taken.every(([name]) => name === 'yes')) return undefined;

  // The script `simulate` gives its name as the first word.
  const own = script === 'simulate' ? words.slice(1) : [...words];
  const isBare = (value: string): boolean => value === '' || value === 'true';
  const valueless = taken.filter(([name, value]) => flags[name]?.example !== undefined && isBare(value));
  // In `--config.file zlb.yml` the value became a word; among words for a command it is the last
  // one.
  const spare = valueless.length === 1 && own.length > (/^[a-z]+$/.test(own[0] ?? '') ? 1 : 0) ? own.pop() : undefined;
  const typed = taken.map(([name, value]) => {
    const { example } = flags[name] ?? { example: value };
    if (example === undefined) return `--${name}`;
    return shellWord(`--${name}=${isBare(value) ? (spare ?? example) : value}`);
  });
  const line = [script === 'start' ? 'npm start --' : `npm run ${script} --`, ...own.map(shellWord), ...typed].join(
    ' ',
  );
  const names = taken.map(([name]) => `--${name}`).join(', ');
  return `npm took ${names} for itself, since flags of the program stand after --; type\n  ${line}`;
}

/**
 * Returns the flags that npm took, with their values. It sets `npm_config_config.file` for
 * `--config.file`; a shell may drop such a name, then scripts/before.sh has put it into
 * `npm_dotted_flags`. A flag of npm itself has no dot.
 */
function takenByNpm(env: NpmRun['env'], flags: readonly string[]): ReadonlyMap<string, string> {
  const handedOn = (env.npm_dotted_flags ?? '').split('\n').map((line): [string, string] => {
    const [name = '', ...value] = line.split('=');
    return [name, value.join('=')];
  });
  const taken = new Map<string, string>();
  for (const [variable, value = ''] of [...Object.entries(env), ...handedOn]) {
    if (!variable.startsWith('npm_config_')) continue;
    const name = variable.slice('npm_config_'.length).replaceAll('_', '-');
    // `--config-file` is as good a guess at what was meant.
    const flag = flags.find((each) => each.replaceAll('.', '-') === name.replaceAll('.', '-')) ?? name;
    if (flag.includes('.') || (value !== '' && flags.includes(flag))) taken.set(flag, value);
  }
  return taken;
}

function takes(word: string, flag: string): boolean {
  return (word === '' || isCommand(word)) && flag in flagsOf(word);
}

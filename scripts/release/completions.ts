import { commands as described, flagsOf, isCommand } from '../../src/commands/commands.ts';

const commands = Object.keys(described).filter(isCommand).toSorted();
/** The exporter itself has no name: its flags are those of the last case. */
const all = [...commands, ''] as const;

/** Returns the completion for bash. */
export function bashCompletion(): string {
  const cases = all.map((command) => {
    const words = Object.entries(flagsOf(command)).map(
      ([name, { example }]) => `--${name}${example === undefined ? '' : '='}`,
    );
    return `    ${command || '*'}) words='${[...(command ? [] : commands), ...words].join(' ')}' ;;`;
  });
  return `# Completes zlb-exporter in bash; made by scripts/release/completions.ts.
_zlb_exporter() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} words
  if [[ $word == = || $before == = ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "\${word#=}")
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  [[ \${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -F _zlb_exporter zlb-exporter
`;
}

/** Returns the completion for zsh. */
export function zshCompletion(): string {
  const cases = all.map((command) => {
    const flags = Object.entries(flagsOf(command)).map(([name, { example }]) =>
      example === undefined ? `'--${name}'` : `'--${name}=:value:_files'`,
    );
    return `  ${command || '*'}) flags=(${flags.join(' ')}) ;;`;
  });
  return `#compdef zlb-exporter
# Made by scripts/release/completions.ts.
local -a flags
case $words[2] in
${cases.join('\n')}
esac
_arguments "1:command:(${commands.join(' ')})" '*:argument:_files' $flags
`;
}

/** Returns the completion for fish. */
export function fishCompletion(): string {
  const lines = all.flatMap((command) =>
    Object.entries(flagsOf(command)).map(([name, { example }]) => {
      const when = command
        ? `__fish_seen_subcommand_from ${command}`
        : `not __fish_seen_subcommand_from ${commands.join(' ')}`;
      return `complete -c zlb-exporter -n '${when}' -l ${name}${example === undefined ? '' : ' -r'}`;
    }),
  );
  return [
    '# Completes zlb-exporter in fish; made by scripts/release/completions.ts.',
    `complete -c zlb-exporter -n 'not __fish_seen_subcommand_from ${commands.join(' ')}' -f -a '${commands.join(' ')}'`,
    ...lines,
    '',
  ].join('\n');
}

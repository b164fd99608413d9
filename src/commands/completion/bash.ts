import { commands, flagWords, type Offer, type Place, places, valuedFlags, type ValuedFlag } from './places.ts';

export function bashCompletion(): string {
  const valued = valuedFlags();
  return `# Completes zlb-exporter in bash; written by zlb-exporter completion bash.
_zlb_exporter() {
  local current=\${COMP_WORDS[COMP_CWORD]} flag= files= words= word index IFS=$' \\t\\n'
  local -a given=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
    ${valued.flatMap(({ spellings }) => spellings).join('|')})
      ((++index))
      # A "=" is a word too.
      [[ \${COMP_WORDS[index]} != = ]] || ((index >= COMP_CWORD)) || ((++index))
      ((index < COMP_CWORD)) || flag=$word ;;
    -*) ;;
    *) given+=("$word") ;;
    esac
  done
  if [[ $flag ]]; then
    current=\${current#=}
    case $flag in
${valued.map(valueCase).join('')}    esac
  elif [[ $current != -* ]]; then
    case "\${#given[@]} \${given[*]}" in
${places().map(placeCase).join('')}    esac
  fi
  if [[ $files ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  if [[ ! $flag && ! $words ]]; then
    case \${given[0]-} in
${[...commands, '' as const].map((name) => `    ${name || '*'}) words='${flagWords(name).join(' ')}' ;;\n`).join('')}    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ \${COMPREPLY[0]-} != *= ]] || compopt -o nospace
}
complete -F _zlb_exporter zlb-exporter
`;
}

function valueCase({ spellings, offer }: ValuedFlag): string {
  return offer.length === 0 ? '' : `    ${spellings.join('|')}) ${assigned(offer)} ;;\n`;
}

function placeCase({ after, offer }: Place): string {
  const pattern = `'${after.length} ${after.join(' ')}'`.replaceAll('*', "'*'");
  return `    ${pattern}) ${assigned(offer)} ;;\n`;
}

function assigned(offer: Offer): string {
  return offer === 'files' ? 'files=yes' : `words='${offer.join(' ')}'`;
}

import { commands, flagWords, type Offer, type Place, places, valuedFlags, type ValuedFlag } from './places.ts';

export function zshCompletion(): string {
  const valued = valuedFlags();
  return `#compdef zlb-exporter
# Completes zlb-exporter in zsh; written by zlb-exporter completion zsh.
_zlb-exporter() {
  local current=$words[CURRENT] flag= word
  local -a given offered
  local -i index
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    case $word in
    (${valued.flatMap(({ spellings }) => spellings).join('|')})
      ((++index < CURRENT)) || flag=$word ;;
    (-*) ;;
    (*) given+=($word) ;;
    esac
  done
  if [[ $current == --*=* ]]; then
    flag=\${current%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    case $flag in
${valued.map(valueCase).join('')}    esac
  elif [[ $current != -* ]]; then
    case "$#given $given" in
${places().map(placeCase).join('')}    esac
  fi
  if [[ -z $flag && $#offered -eq 0 ]]; then
    case $given[1] in
${[...commands, '' as const].map((name) => `    (${name || '*'}) offered=(${flagWords(name).join(' ')}) ;;\n`).join('')}    esac
  fi
  compadd -- \${offered:#*=}
  compadd -S '' -- \${(M)offered:#*=}
}
if [[ $funcstack[1] == _zlb-exporter ]]; then
  _zlb-exporter "$@"
else
  compdef _zlb-exporter zlb-exporter
fi
`;
}

function valueCase({ spellings, offer }: ValuedFlag): string {
  return offer.length === 0 ? '' : `    (${spellings.join('|')}) ${assigned(offer)} ;;\n`;
}

function placeCase({ after, offer }: Place): string {
  const pattern = `'${after.length} ${after.join(' ')}'`.replaceAll('*', "'*'");
  return `    (${pattern}) ${assigned(offer)} ;;\n`;
}

function assigned(offer: Offer): string {
  return offer === 'files' ? '_files; return' : `offered=(${offer.join(' ')})`;
}

import { type CommandName, flagsOf } from '../commands.ts';
import type { Flag } from '../flags.ts';
import { commands, type Place, places, valuedFlags, valuesOf } from './places.ts';

export function fishCompletion(): string {
  const valued = valuedFlags().flatMap(({ spellings }) => spellings);
  return `# Completes zlb-exporter in fish; written by zlb-exporter completion fish.
function __zlb_exporter_given --description 'Prints the words before the cursor that are not flags'
    set -l is_value no
    for word in (commandline -opc)[2..]
        if test $is_value = yes
            set is_value no
            continue
        end
        switch $word
            case ${valued.join(' ')}
                set is_value yes
            case '-*'
            case '*'
                echo $word
        end
    end
end
function __zlb_exporter_is --description 'True for this command'
    set -l given (__zlb_exporter_given)
    test "$given[1]" = "$argv[1]"
end
function __zlb_exporter_words --description 'Prints the words that may follow'
    set -l given (__zlb_exporter_given)
    switch (count $given)" $given"
${places().map(placeCase).join('')}    end
end
complete -c zlb-exporter -f -a '(__zlb_exporter_words)'
${([...commands, ''] as const).flatMap(flagLines).join('\n')}
`;
}

function placeCase({ after, offer }: Place): string {
  const words = offer === 'files' ? '__fish_complete_path (commandline -ct)' : `string split ' ' '${offer.join(' ')}'`;
  return `        case '${after.length} ${after.join(' ')}'\n            ${words}\n`;
}

function flagLines(command: CommandName | ''): readonly string[] {
  return Object.entries(flagsOf(command)).map(([name, flag]) => {
    const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
    const about = flag.about ? ` -d '${flag.about.trim().replaceAll("'", String.raw`\'`)}'` : '';
    return `complete -c zlb-exporter -n '__zlb_exporter_is "${command}"' -l ${name}${short}${valueOption(name, flag)}${about}`;
  });
}

function valueOption(name: string, flag: Flag): string {
  if (flag.example === undefined) return '';
  const offer = valuesOf(name, flag);
  if (offer === 'files') return ' -r -F';
  return offer.length === 0 ? ' -x' : ` -x -a '${offer.join(' ')}'`;
}

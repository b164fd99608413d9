import { type Description, commands, exporter } from '../../src/commands/commands.ts';
import { environmentVariables, otherVariables } from '../../src/config/environment.ts';
import { exitCodesOf } from '../docs/command-lists.ts';

type Entry = readonly [term: string, text: string];

const files: readonly Entry[] = [
  ['/etc/zlb-exporter/zlb.yml', 'the configuration'],
  ['/etc/zlb-exporter/keys/', 'API keys, one in each file'],
  ['/etc/zlb-exporter/environment', 'flags of the service, and values for ${NAME} in the configuration'],
  ['/var/lib/zlb-exporter/', 'the journal of the gateway, and the history'],
  ['/usr/share/doc/zlb-exporter/', 'the documentation, with examples in deploy/'],
  ['/usr/lib/zlb-exporter/alerts/', 'the rules of Prometheus'],
];

/** Returns the manual page, of the same texts as `--help`; `builtAt` is its date. */
export function manPage(version: string, builtAt: Date): string {
  const all: readonly (readonly [string, Description])[] = Object.entries(commands);
  return [
    `.TH ZLB\\-EXPORTER 1 "${builtAt.toISOString().slice(0, 10)}" "zlb\\-exporter ${version}" "User Commands"`,
    '.SH NAME',
    String.raw`zlb\-exporter \- Prometheus exporter and admin gateway for load balancers`,
    '.SH SYNOPSIS',
    String.raw`.B zlb\-exporter`,
    '[\\fICOMMAND\\fR] [\\fIflags\\fR]',
    '.SH DESCRIPTION',
    asWritten(exporter.help),
    '.SH COMMANDS',
    ...all.flatMap(([name, { help }]) => [`.SS ${name}`, asWritten(help)]),
    '.SH EXIT STATUS',
    'A command that is not in this list ends with 0 for success, 1 for a failure, and 2 for a wrong call.',
    ...[['without a command', exporter] as const, ...all].flatMap(([name, { help }]) => {
      const codes = exitCodesOf(help);
      return codes === undefined ? [] : [entry([name, codes])];
    }),
    '.SH ENVIRONMENT',
    ...environmentVariables.map(({ variable, key }) =>
      entry([variable, `${key} of the one appliance that needs no configuration`]),
    ),
    ...Object.entries(otherVariables).map(entry),
    entry(['TZ', 'the time zone of schedules']),
    entry(['NO_COLOR', 'switches colours off']),
    '.SH FILES',
    ...files.map(entry),
    '.SH SEE ALSO',
    '.BR prometheus (1),\n.BR promtool (1),\n.BR systemctl (1)',
    '',
  ].join('\n');
}

function entry([term, text]: Entry): string {
  return `.TP\n.B ${escaped(term)}\n${escaped(text)}`;
}

/** Returns lines that are shown as they are. */
function asWritten(text: string): string {
  return `.nf\n${escaped(text)}\n.fi`;
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');
}

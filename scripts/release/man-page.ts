import { commands, exporter } from '../../src/commands/commands.ts';

/** Returns the manual page, of the same texts as `--help`. */
export function manPage(version: string): string {
  return [
    `.TH ZLB-EXPORTER 1 "" "zlb-exporter ${version}"`,
    '.SH NAME',
    String.raw`zlb-exporter \- Prometheus exporter and admin gateway for load balancers`,
    '.SH SYNOPSIS',
    asWritten(exporter.help),
    '.SH COMMANDS',
    ...Object.entries(commands).flatMap(([name, { help }]) => [`.SS ${name}`, asWritten(help)]),
    '.SH FILES',
    '.TP\n/etc/zlb\\-exporter/zlb.yml\nthe configuration',
    '.TP\n/etc/zlb\\-exporter/keys/\nAPI keys, one in each file',
    '.TP\n/var/lib/zlb\\-exporter/\nthe journal of the admin gateway',
    '.TP\n/usr/share/doc/zlb\\-exporter/\nthe documentation',
    '',
  ].join('\n');
}

/** Returns lines that are shown as they are. */
function asWritten(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&');
  return `.nf\n${escaped}\n.fi`;
}

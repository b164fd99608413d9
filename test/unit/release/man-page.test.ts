import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/commands/commands.ts';
import { manPage } from '../../../scripts/release/man-page.ts';
import { isThere } from '../../support/programs.ts';

describe('the manual page', () => {
  it('contains the text of --help for each command', () => {
    const page = manPage('1.2.3', new Date(0)).replaceAll('\\-', '-').replaceAll('\\&', '').replaceAll('\\e', '\\');

    for (const { help } of Object.values(commands)) expect(page).toContain(help);
  });

  it('lists the environment, exit codes, files and further reading', () => {
    const page = manPage('1.2.3', new Date(0)).replaceAll('\\-', '-');

    expect(page).toMatch(/^\.TH ZLB-EXPORTER 1 "1970-01-01" "zlb-exporter 1\.2\.3"/);
    expect(page).toMatch(/^\.SH SYNOPSIS\n(?:.*\n){2}\.SH DESCRIPTION$/m);
    expect(page).toMatch(/^\.SH EXIT STATUS\n[^]*\.B plugin\n0 OK, 1 WARNING/m);
    expect(page).toMatch(/^\.SH ENVIRONMENT\n[^]*\.B ZLB_CONFIG_FILE\nthe configuration/m);
    expect(page).toMatch(/^\.SH FILES\n[^]*\.B \/etc\/zlb-exporter\/environment$/m);
    expect(page).toMatch(/^\.SH SEE ALSO$/m);
  });

  it.skipIf(!isThere('man'))('is accepted by man without a warning', () => {
    // man refuses to be run with a library of somebody else.
    const { LD_PRELOAD: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', '-'], {
      input: manPage('1.2.3', new Date(0)),
      encoding: 'utf8',
      env: { ...env, MANPAGER: 'cat', LC_ALL: 'C.UTF-8', MANWIDTH: '110' },
    });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('--api-key-file=FILE');
  });
});

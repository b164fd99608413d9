import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { givenFolder } from '../support/folder.ts';
import { startExporter } from '../support/process.ts';
import { isThere } from '../support/programs.ts';
import { until } from '../support/until.ts';

const withoutIcinga = !isThere('icinga2');

/** A folder for Icinga with the services that ship and a further part. */
function givenIcinga(further: string): readonly string[] {
  const folder = givenFolder();
  for (const name of ['data', 'log', 'run', 'cache', 'spool']) mkdirSync(join(folder, name));
  // The program by its name, as an installation has it.
  const program = `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/main.ts')}' "$@"\n`;
  writeFileSync(join(folder, 'zlb-exporter'), program, { mode: 0o755 });
  // Sooner than the services that ship.
  const services = readFileSync('deploy/icinga/zlb-exporter.conf', 'utf8');
  writeFileSync(join(folder, 'services.conf'), services.replaceAll(/_interval = \d+[sm]/g, '_interval = 2s'));
  writeFileSync(
    join(folder, 'icinga2.conf'),
    `
include <itl>
include <plugins>
const NodeName = "icinga"
const PluginDir = "/usr/lib/nagios/plugins"
include "${join(folder, 'services.conf')}"
${further.replaceAll('FOLDER', folder)}
`,
  );
  const places = { DataDir: 'data', LogDir: 'log', CacheDir: 'cache', InitRunDir: 'run', SpoolDir: 'spool' };
  return [
    folder,
    '--config',
    join(folder, 'icinga2.conf'),
    '-DConfiguration.RunAsUser=root',
    '-DConfiguration.RunAsGroup=root',
    ...Object.entries(places).map(([name, place]) => `-DConfiguration.${name}=${join(folder, place)}`),
  ];
}

describe.skipIf(withoutIcinga)('the services for Icinga', () => {
  it('have the states of the appliance that the exporter watches', async () => {
    const url = await startExporter(['--web.listen-address=127.0.0.1:0']).url();
    const [folder = '', ...flags] = givenIcinga(`
library "checker"
library "compat"
object CheckerComponent "checker" {}
object StatusDataWriter "status" { status_path = "FOLDER/status.dat", objects_path = "FOLDER/objects.cache", update_interval = 1s }
object Host "lb-madrid" {
  check_command = "dummy"
  vars.zlb_exporter_url = "${url}"
  vars.zlb_farms = { legacy = {}, shop = { zlb_warning = 1, zlb_critical = 0 } }
  vars.zlb_connections = { shop = { zlb_critical = 1 } }
}
object Host "lb-lisbon" {
  check_command = "dummy"
  vars.zlb_exporter_url = "${url}"
}
`);
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const icinga = spawn('icinga2', ['daemon', ...flags], { env, stdio: 'ignore', detached: true });
    // Its children would stay.
    onTestFinished(() => void (icinga.pid && process.kill(-icinga.pid, 'SIGKILL')));

    const expected = {
      'lb-lisbon activation': 1,
      'lb-lisbon farms': 3,
      'lb-madrid connections shop': 2,
      'lb-madrid farm legacy': 2,
    };
    const states = await until(
      () => statesIn(join(folder, 'status.dat')),
      (seen) => Object.entries(expected).every(([name, state]) => seen.get(name)?.state === state),
    );

    expect(states.get('lb-madrid farm legacy')?.output).toContain(
      'CRITICAL - simulated appliance: farm legacy is critical',
    );
  });
});

interface ServiceState {
  readonly state: number;
  readonly output: string;
}

/** The services of Icinga's status file that were checked. */
function statesIn(file: string): ReadonlyMap<string, ServiceState> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const blocks = [...text.matchAll(/^servicestatus \{\n([^]*?)^\s*\}/gm)].map(([, block = '']) => {
    const value = (key: string): string => new RegExp(`^\\s*${key}=(.*)$`, 'm').exec(block)?.[1] ?? '';
    return { value, name: `${value('host_name')} ${value('service_description')}` };
  });
  return new Map(
    blocks
      .filter(({ value }) => value('has_been_checked') === '1')
      .map(({ name, value }) => [name, { state: Number(value('current_state')), output: value('plugin_output') }]),
  );
}

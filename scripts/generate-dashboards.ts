import { writeFileSync } from 'node:fs';
import { type Dashboard, VariableType } from '@grafana/grafana-foundation-sdk/dashboard';
import { copyChartFiles } from './chart-files.ts';
import { admin } from './dashboards/admin.ts';
import { appliance } from './dashboards/appliance.ts';
import { certificates } from './dashboards/certificates.ts';
import { exporter } from './dashboards/exporter.ts';
import { farm } from './dashboards/farm.ts';
import { fleet } from './dashboards/fleet.ts';
import { datasource } from './dashboards/variables.ts';

const boards: readonly Dashboard[] = [fleet(), appliance(), farm(), certificates(), exporter(), admin()];
const input = 'DS_PROMETHEUS';
/** The oldest release for which the tables are written; see `paginated` in table.ts. */
const grafanaVersion = '10.0.0';

/**
 * The texts of dashboards/, by the names of the files; a variable chooses their data source. Each
 * file is one line: boards are read in scripts/dashboards/.
 */
export function dashboardFiles(): ReadonlyMap<string, string> {
  return new Map(boards.map((board) => [`${board.uid}.json`, `${JSON.stringify(board)}\n`]));
}

/**
 * The texts of deploy/grafana/import/, for grafana.com and for an import by hand: Grafana asks once
 * for the data source.
 */
export function importFiles(): ReadonlyMap<string, string> {
  return new Map(boards.map((board) => [`${board.uid}.json`, `${JSON.stringify(importable(board))}\n`]));
}

/** Returns a board as Grafana exports one for others: with its data source as an input. */
function importable(board: Dashboard): object {
  const list = (board.templating.list ?? []).filter(({ type }) => type !== VariableType.Datasource);
  const own = JSON.stringify({ ...board, id: null, templating: { list } });
  return {
    __inputs: [
      {
        name: input,
        label: 'Prometheus',
        description: 'The Prometheus that scrapes zlb-exporter.',
        type: 'datasource',
        pluginId: 'prometheus',
        pluginName: 'Prometheus',
      },
    ],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: grafanaVersion },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
    ],
    ...JSON.parse(own.replaceAll(datasource.uid, `\${${input}}`)),
  };
}

function write(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) writeFileSync(new URL(folder + name, import.meta.url), text);
}

if (import.meta.main) {
  write('../dashboards/', dashboardFiles());
  write('../deploy/grafana/import/', importFiles());
  copyChartFiles();
}

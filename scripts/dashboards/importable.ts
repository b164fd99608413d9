import { type Dashboard, VariableType } from '@grafana/grafana-foundation-sdk/dashboard';
import { datasource } from './variables.ts';

const input = 'DS_PROMETHEUS';
/** The release against whose types the boards are checked. */
const grafanaVersion = '13.2.0';

/** Returns a board as Grafana exports one for others: with its data source as an input. */
export function importable(board: Dashboard): object {
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

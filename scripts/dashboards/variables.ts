import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { inFarm, series } from './queries.ts';

/** The data source of every query, annotation and variable. */
export const datasource = { type: 'prometheus', uid: '${datasource}' } as const;

const all = { text: 'All', value: '$__all' };

export type VariableName = 'farm' | 'service';

/** Every board has the first four; the others are for boards on farms. */
export function variables(names: readonly VariableName[]) {
  return [
    new DatasourceVariableBuilder('datasource')
      .label('Data source')
      .description('The Prometheus that scrapes zlb-exporter.')
      .type('prometheus'),
    choice('job', 'Job', 'Scrape jobs; their names contain zlb.', 'up{job=~".*zlb.*"}'),
    choice(
      'site',
      'Site',
      'A label of that name from the configuration of the appliances, where their series have it.',
      'zlb_exporter_series{job=~"$job"}',
    ),
    choice(
      'appliance',
      'Appliance',
      'Load balancers, by their names in the configuration.',
      'zlb_exporter_series{job=~"$job", site=~"$site"}',
    ),
    ...names.map((name) => farmChoices[name]()),
  ];
}

const farmChoices = {
  farm: () => choice('farm', 'Farm', 'Farms (virtual services) of these appliances.', series('zlb_farm_status')),
  service: () =>
    choice(
      'service',
      'Service',
      'Services of HTTP and GSLB farms; L4 farms have none.',
      series('zlb_farm_backends', inFarm, 'service!=""'),
    ),
} as const;

/** Choices are looked up again when the time changes, so that what existed then can be chosen. */
function choice(label: string, title: string, description: string, selector: string) {
  const query = `label_values(${selector}, ${label})`;
  return (
    new QueryVariableBuilder(label)
      .label(title)
      .description(description)
      .datasource(datasource)
      .query({ query, refId: `variable-${label}` })
      .definition(query)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.AlphabeticalAsc)
      .multi(true)
      .includeAll(true)
      // Matches what has no such label too: a farm without services, a request to no appliance.
      .allValue('.*')
      .current(all)
  );
}

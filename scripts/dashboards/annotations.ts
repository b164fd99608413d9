import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { changesMade, exporterSeries, firing, series } from './queries.ts';
import { datasource } from './variables.ts';

/** Returns the events that are drawn across the panels. */
export function annotations(): AnnotationQueryBuilder[] {
  const version = `group by (appliance, version) (${series('zlb_appliance_info')}`;
  const written = `sum by (appliance, method, endpoint) (${changesMade}`;
  return [
    annotation('Critical alerts', 'red', firing('severity="critical"'))
      .titleFormat('{{alertname}}')
      .textFormat('{{appliance}} {{farm}} {{file}}')
      .enable(false),
    annotation(
      'New versions',
      'purple',
      `${version}) unless ${version} offset 10m) and on (appliance) ${version} offset 10m)`,
    )
      .titleFormat('New version')
      .textFormat('{{appliance}} runs {{version}}'),
    annotation(
      'Configuration reloads',
      'blue',
      `${exporterSeries('zlb_exporter_config_last_reload_success_timestamp_seconds')} * 1000`,
    )
      .titleFormat('Configuration read')
      .textFormat('{{instance}}')
      .useValueForTime(true),
    // The first write of a kind makes a series; what was not there a minute ago counts from 0.
    annotation('Changes through the gateway', 'orange', `${written}) > (${written} offset 1m) or 0 * ${written}))`)
      .titleFormat('{{method}} {{endpoint}}')
      .textFormat('{{appliance}}'),
  ];
}

function annotation(name: string, color: string, expr: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(datasource)
    .enable(true)
    .iconColor(color)
    .expr(expr)
    .step('60s');
}

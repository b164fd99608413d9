import { type Item, noReading, type Trigger } from './parts.ts';

/** Items of the exporter itself. */
export const exporterItems: readonly Item[] = [
  { key: 'up', name: 'answers', metric: 'zlb_exporter_build_info', absent: '0', valueMap: 'Answers' },
  {
    key: 'version',
    name: 'release',
    metric: 'zlb_exporter_build_info',
    take: { label: 'version' },
    absent: noReading,
  },
  { key: 'reload', name: 'configuration was applied', metric: 'zlb_exporter_config_last_reload_successful' },
];

export const exporterTriggers: readonly Trigger[] = [
  // The second part is true as well when Zabbix itself does not come to ask.
  { alert: 'ZlbExporterDown', problem: 'max($up,$for)=0 or nodata($up,$for)=1' },
  { alert: 'ZlbConfigReloadFailed', problem: 'max($reload,$for)=0', unless: ['ZlbExporterDown'] },
];

import { type Discovery, imminent, type Item, left, noReading, soon, stateItem, type Trigger } from './parts.ts';

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

/** The collectors that feed the items of this template. */
const readings = ['farms', 'backends', 'certificates', 'activation', 'interfaces', 'system'] as const;

/** When a collector last succeeded, and its interval; absent if it is disabled or not offered. */
const readingItems: readonly Item[] = readings.flatMap((collector): readonly Item[] => [
  {
    key: `read.${collector}`,
    name: `last good reading of ${collector}`,
    metric: 'zlb_collector_last_success_timestamp_seconds',
    where: { collector },
    units: 'unixtime',
  },
  {
    key: `interval.${collector}`,
    name: `interval of ${collector}`,
    metric: 'zlb_collector_interval_seconds',
    where: { collector },
    units: 's',
  },
  {
    key: `success.${collector}`,
    name: `${collector} could be read`,
    metric: 'zlb_collector_success',
    where: { collector },
    valueMap: 'Answers',
  },
]);

/** Alerts that say why nothing is read. */
const explained: readonly string[] = ['ZlbApplianceUnreachable', 'ZlbApplianceDeactivated'];

/** Too old, or not read once while it was tried again and again. */
const staleTriggers: readonly Trigger[] = readings.flatMap((collector): readonly Trigger[] => [
  {
    alert: 'ZlbCollectorStale',
    about: collector,
    problem: `now()-last($read.${collector})>{$ZLB.STALE.INTERVALS}*last($interval.${collector})+$for`,
    unless: explained,
  },
  {
    alert: 'ZlbCollectorErrors',
    about: collector,
    problem: `count($success.${collector},#10,"eq",0)=10`,
    unless: explained,
  },
]);

/** Each appliance of the exporter. */
export const appliances: Discovery = {
  key: 'appliance',
  name: 'Appliances',
  metric: 'zlb_up',
  labels: [],
  subject: '{#APPLIANCE}',
  items: [
    { key: 'up', name: 'answers', metric: 'zlb_up', absent: '2', valueMap: 'Answers' },
    { key: 'version', name: 'release', metric: 'zlb_appliance_info', take: { label: 'version' }, absent: noReading },
    { key: 'farms', name: 'farms', metric: 'zlb_farm_info', take: { function: 'count' } },
    stateItem('zlb_activation_status', { name: 'activation' }),
    { key: 'kind', name: 'kind of licence', metric: 'zlb_activation_info', take: { label: 'kind' }, absent: 'unknown' },
    {
      key: 'not_before',
      name: 'begin of the licence',
      metric: 'zlb_activation_not_before_timestamp_seconds',
      units: 'unixtime',
      absent: '0',
    },
    {
      key: 'not_after',
      name: 'end of the licence',
      metric: 'zlb_activation_not_after_timestamp_seconds',
      units: 'unixtime',
    },
    {
      key: 'cpu',
      name: 'CPU, busy part',
      metric: 'zlb_system_cpu_ratio',
      where: { mode: '!idle' },
      take: { function: 'sum' },
    },
    { key: 'memory.used', name: 'memory in use', metric: 'zlb_system_memory_used_bytes', units: 'B' },
    { key: 'memory.total', name: 'memory', metric: 'zlb_system_memory_total_bytes', units: 'B' },
    ...readingItems,
  ],
  triggers: [
    // 2 is no answer either: the appliance was not called yet, or is not watched any more.
    { alert: 'ZlbApplianceUnreachable', problem: 'count($up,$for,"eq",1)=0', recovery: 'last($up)=1' },
    ...staleTriggers,
    {
      alert: 'ZlbFarmDisappeared',
      problem: 'last($up)=1 and last($success.farms)=1 and max($farms,1h)>max($farms,$for)',
    },
    {
      alert: 'ZlbApplianceDeactivated',
      problem: 'last($state)="deactivated" and count($state,$for,"eq","activated")=0',
      recovery: 'last($state)="activated"',
    },
    { alert: 'ZlbActivationExpirySoon', problem: `${soon} and last($kind)<>"permanent"` },
    {
      alert: 'ZlbActivationExpiryImminent',
      problem: `${imminent} and last($kind)<>"permanent" and not (${left}<-1d and last($state)="activated")`,
      unless: ['ZlbApplianceDeactivated'],
    },
    { alert: 'ZlbCpuSaturated', problem: 'min($cpu,$for)>{$ZLB.CPU.MAX}' },
    { alert: 'ZlbMemorySaturated', problem: 'min($memory.used,$for)>{$ZLB.MEMORY.MAX}*last($memory.total)' },
  ],
};

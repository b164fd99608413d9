import { stateSetOf } from '../families.ts';
import { type Discovery, imminent, type Item, oneOf, soon, stateItem, type Trigger } from './parts.ts';

const farmStates = stateSetOf('zlb_farm_status').states.filter((state) => state !== 'unknown');
const serves = oneOf(farmStates.filter((state) => state !== 'down' && state !== 'critical'));
const ran = oneOf(farmStates.filter((state) => state !== 'down'));

const farms: Discovery = {
  key: 'farm',
  name: 'Farms',
  metric: 'zlb_farm_info',
  labels: ['farm'],
  subject: 'Farm {#FARM} of {#APPLIANCE}',
  items: [
    stateItem('zlb_farm_status'),
    { key: 'established', name: 'established connections', metric: 'zlb_farm_established_connections' },
    { key: 'pending', name: 'half-open connections', metric: 'zlb_farm_pending_connections' },
  ],
  triggers: [
    // A farm that has been stopped for a day is meant to be stopped. Silence is no recovery.
    {
      alert: 'ZlbFarmDown',
      problem: `(last($state)="critical" or last($state)="down" and count($state,1d,"regexp","${ran}")>0) and count($state,$for,"regexp","${serves}")=0`,
      recovery: `count($state,#1,"regexp","${serves}")=1 or count($state,1d,"ne","down")=0`,
    },
    { alert: 'ZlbFarmStatusUnknown', problem: 'count($state,$for,"ne","unknown")=0' },
    { alert: 'ZlbFarmNeedsRestart', problem: 'count($state,$for,"ne","needed_restart")=0' },
    {
      alert: 'ZlbFarmPendingConnections',
      problem:
        'min($pending,$for)>{$ZLB.PENDING.MAX:"{#FARM}"} and last($pending)>{$ZLB.PENDING.RATIO}*last($established)',
    },
  ],
};

/** The state of the farm, where it explains what its parts do. */
const farmState = (without: readonly string[]): Item =>
  stateItem('zlb_farm_status', { key: 'farm', name: 'state of its farm', without });
const farmServes = `count($farm,#1,"regexp","^(down|critical)$")=0`;

const countItem = (status: string): Item => ({
  key: status,
  name: `backends ${status}`,
  metric: 'zlb_farm_backends',
  where: { status },
});

const services: Discovery = {
  key: 'service',
  name: 'Services of farms',
  metric: 'zlb_farm_backends',
  where: { status: 'up' },
  labels: ['farm', 'service'],
  subject: 'Service "{#SERVICE}" of farm {#FARM} of {#APPLIANCE}',
  items: [
    ...['up', 'maintenance', 'unknown'].map(countItem),
    { key: 'total', name: 'backends', metric: 'zlb_farm_backends', take: { function: 'sum' } },
    farmState(['service']),
  ],
  triggers: [
    {
      alert: 'ZlbFarmNoBackends',
      problem: `max($up,$for)=0 and last($total)>last($unknown) and ${farmServes}`,
      recovery: 'last($up)>0 or last($total)=0',
    },
    {
      alert: 'ZlbFarmDegraded',
      problem: `last($up)>0 and max($up,$for)<{$ZLB.BACKENDS.UP.MIN:"{#FARM}"}*(last($total)-last($maintenance))`,
    },
  ],
};

const backends: Discovery = {
  key: 'backend',
  name: 'Backends',
  metric: 'zlb_backend_status',
  where: { status: 'up' },
  labels: ['farm', 'service', 'backend'],
  subject: 'Backend {#BACKEND} of farm {#FARM} of {#APPLIANCE}',
  items: [
    stateItem('zlb_backend_status'),
    { key: 'established', name: 'established connections', metric: 'zlb_backend_established_connections' },
    farmState(['service', 'backend']),
  ],
  triggers: [
    {
      alert: 'ZlbBackendDown',
      problem: `last($state)="down" and count($state,$for,"regexp","^(up|maintenance)$")=0 and ${farmServes}`,
      recovery: 'count($state,#1,"regexp","^(up|maintenance)$")=1',
    },
  ],
};

const certificates: Discovery = {
  key: 'certificate',
  name: 'Certificates',
  metric: 'zlb_certificate_info',
  where: { kind: 'certificate' },
  labels: ['file'],
  subject: 'Certificate {#FILE} of {#APPLIANCE}',
  items: [
    {
      key: 'not_before',
      name: 'begin',
      metric: 'zlb_certificate_not_before_timestamp_seconds',
      units: 'unixtime',
      absent: '0',
    },
    { key: 'not_after', name: 'end', metric: 'zlb_certificate_not_after_timestamp_seconds', units: 'unixtime' },
    stateItem('zlb_certificate_status'),
    { key: 'unreadable', name: 'cannot be read', metric: 'zlb_certificate_parse_error' },
    { key: 'farms', name: 'farms', metric: 'zlb_farm_certificate_info', take: { function: 'count' } },
  ],
  triggers: [
    { alert: 'ZlbCertificateExpirySoon', problem: soon },
    { alert: 'ZlbCertificateExpiryImminent', problem: imminent },
    { alert: 'ZlbCertificateNotYetValid', problem: 'last($not_before)>now()' },
    { alert: 'ZlbCertificateInvalid', problem: 'count($state,$for,"ne","invalid")=0' },
    { alert: 'ZlbCertificateUnreadable', problem: 'min($unreadable,$for)=1' },
  ],
};

const trafficItem = (direction: 'receive' | 'transmit'): Item => ({
  key: direction,
  name: `${direction}d`.replace('transmitd', 'transmitted'),
  metric: `zlb_interface_${direction}_bytes_total`,
  rateTimes: 8,
  units: 'bps',
});

const interfaces: Discovery = {
  key: 'interface',
  name: 'Interfaces',
  metric: 'zlb_interface_up',
  labels: ['interface'],
  subject: 'Interface {#INTERFACE} of {#APPLIANCE}',
  items: [
    { key: 'up', name: 'is up', metric: 'zlb_interface_up', valueMap: 'Answers' },
    trafficItem('receive'),
    trafficItem('transmit'),
  ],
  triggers: [
    // One that was not in use for a day is meant to be down.
    { alert: 'ZlbInterfaceDown', problem: 'max($up,$for)=0 and max($up,1d)=1', recovery: 'last($up)=1' },
  ],
};

/** Farms as clients meet them, where the collector `vip` is enabled. */
const probes: Discovery = {
  key: 'probe',
  name: 'Addresses of farms',
  metric: 'zlb_farm_reachable',
  labels: ['farm', 'vip', 'vport'],
  subject: 'Farm {#FARM} of {#APPLIANCE} at {#VIP}, port {#VPORT}',
  items: [
    { key: 'up', name: 'can be reached', metric: 'zlb_farm_reachable', valueMap: 'Answers' },
    farmState(['vip', 'vport']),
  ],
  triggers: [
    // One that never could be reached is in another network.
    {
      alert: 'ZlbFarmUnreachable',
      problem: `max($up,$for)=0 and max($up,1d)=1 and ${farmServes}`,
      recovery: 'last($up)=1 or max($up,1d)=0',
    },
  ],
};

const served: Discovery = {
  key: 'served',
  name: 'Served certificates',
  metric: 'zlb_farm_served_certificate_not_after_timestamp_seconds',
  labels: ['farm', 'server_name'],
  subject: 'Certificate for "{#SERVER_NAME}" of farm {#FARM} of {#APPLIANCE}',
  items: [
    {
      key: 'not_before',
      name: 'begin',
      metric: 'zlb_farm_served_certificate_not_before_timestamp_seconds',
      units: 'unixtime',
      absent: '0',
    },
    {
      key: 'not_after',
      name: 'end',
      metric: 'zlb_farm_served_certificate_not_after_timestamp_seconds',
      units: 'unixtime',
    },
    {
      key: 'in_store',
      name: 'is in the store',
      metric: 'zlb_farm_served_certificate_in_store',
      absent: '2',
      valueMap: 'Answers',
    },
  ],
  // One that is in the store has a trigger there.
  triggers: [{ alert: 'ZlbServedCertificateExpiryImminent', problem: `${imminent} and last($in_store)<>1` }],
};

/** Something that has nothing but a state. */
function onlyState(metric: string, label: string, trigger: Omit<Trigger, 'problem'> & { good: readonly string[] }) {
  const { good, ...rest } = trigger;
  const bad = oneOf(stateSetOf(metric).states.filter((state) => !good.includes(state)));
  const better = oneOf(good);
  return {
    key: label,
    name: label === 'vpn' ? 'VPNs' : 'Cluster nodes',
    metric,
    where: { status: good[0] ?? '' },
    labels: [label],
    subject: `${label === 'vpn' ? 'VPN' : 'Node'} {#${label.toUpperCase()}} of {#APPLIANCE}`,
    items: [stateItem(metric)],
    triggers: [
      {
        ...rest,
        problem: `count($state,#1,"regexp","${bad}")=1 and count($state,$for,"regexp","${better}")=0`,
        recovery: `count($state,#1,"regexp","${better}")=1`,
      },
    ],
  } satisfies Discovery;
}

/** The parts of appliances. */
export const objects: readonly Discovery[] = [
  farms,
  services,
  backends,
  certificates,
  probes,
  served,
  interfaces,
  onlyState('zlb_vpn_status', 'vpn', { alert: 'ZlbVpnDown', good: ['up', 'needed_restart', 'unknown'] }),
  onlyState('zlb_cluster_node_status', 'node', {
    alert: 'ZlbClusterNodeDown',
    good: ['ok', 'not_configured', 'unknown'],
  }),
];

import { Type } from 'typebox';
import {
  about,
  lengthKeyword,
  maxBackends,
  WireList,
  WireName,
  WireNumber,
  WirePart,
  WireRows,
  WireRowsOrNull,
  WireSigned,
  WireState,
  WireText,
} from './wire-types.ts';

// Only what the collectors and the guards read; unknown fields pass. A field may be missing in
// another release, so nearly all are optional; but a reply without anything that it is about comes
// from something else, or says nothing.

/** `GET /stats` (docs/api.md §3.1): percent, MiB. */
export const StatsReply = Type.Object({
  params: Type.Object(
    {
      hostname: WireText,
      cpu: WirePart(
        Type.Object({
          cores: WireNumber,
          user: WireNumber,
          nice: WireNumber,
          sys: WireNumber,
          iowait: WireNumber,
          irq: WireNumber,
          softirq: WireNumber,
          idle: WireNumber,
        }),
      ),
      load: WirePart(Type.Object({ Last_1: WireNumber, Last_5: WireNumber, Last_15: WireNumber })),
      memory: WirePart(
        Type.Object({
          MemTotal: WireNumber,
          MemFree: WireNumber,
          MemUsed: WireNumber,
          Buffers: WireNumber,
          Cached: WireNumber,
          SwapTotal: WireNumber,
          SwapFree: WireNumber,
          SwapUsed: WireNumber,
          SwapCached: WireNumber,
        }),
      ),
    },
    about('cpu', 'memory', 'load'),
  ),
});

/** `GET /stats/system/network` (docs/api.md §3.2): MiB since boot. */
export const NetworkStatsReply = Type.Object({
  params: Type.Object({
    interfaces: WireRows(Type.Object({ interface: WireName, in: WireNumber, out: WireNumber }), ['interface']),
  }),
});

/** `GET /stats/system/connections` (docs/api.md §3.3, Enterprise). */
export const ConnectionStatsReply = Type.Object({
  params: Type.Object({ connections: WireNumber }, about('connections')),
});

const listedFarm = { farmname: WireName, profile: WireText, status: WireState, vip: WireText, vport: WireText };

/** `GET /stats/farms` (docs/api.md §3.5). */
export const FarmStatsListReply = Type.Object({
  farms: WireRows(Type.Object({ ...listedFarm, established: WireNumber, pending: WireNumber }), ['farmname']),
});

/** `GET /farms` (docs/api.md §3.7). */
export const FarmListReply = Type.Object({ params: WireRows(Type.Object(listedFarm), ['farmname']) });

const summaryModule = WireList(Type.Object({ name: WireName, profile: WireText, services: WireList(WireName, []) }), [
  'name',
]);

/** `GET /farms/modules/summary` (docs/api.md §3.8): names only, no status. */
export const FarmsSummaryReply = Type.Object({
  params: Type.Object({ lslb: summaryModule, gslb: summaryModule, dslb: summaryModule }, about('lslb', 'gslb', 'dslb')),
});

/**
 * `GET /stats/farms/{farmname}` (docs/api.md §3.6), all profiles; null from a GSLB farm that is
 * down. `sessions` is their number: users make tens of thousands, and none is looked into.
 */
export const FarmStatsReply = Type.Object(
  {
    backends: WireRowsOrNull(
      Type.Object({
        id: WireText,
        ip: WireText,
        port: WireText,
        service: WireText,
        status: WireState,
        established: WireNumber,
        pending: WireNumber,
        weight: WireNumber,
        priority: WireNumber,
        max_conns: WireNumber,
      }),
      ['service', 'id', 'ip', 'port'],
      maxBackends,
    ),
    total_sessions: WireNumber,
    sessions: WireNumber,
    warning: WireText,
  },
  { [lengthKeyword]: 'sessions' },
);

const configuredBackend = Type.Object({
  id: WireText,
  ip: WireText,
  port: WireText,
  weight: WireNumber,
  priority: WireNumber,
});

const keyOfBackend = ['id', 'ip', 'port'];
const backendsOfService = WireList(configuredBackend, keyOfBackend, maxBackends);

/**
 * `GET /farms/{farmname}` (docs/api.md §3.9), all profiles. A backend's status in it is not to be
 * trusted and not read.
 */
export const FarmReply = Type.Object({
  params: Type.Object(
    {
      listener: WireText,
      vip: WireText,
      vport: WireText,
      farmguardian: WireText,
      protocol: WireText,
      ciphers: WireText,
      logs: WireText,
      // A plain HTTP farm of some builds has the number -1 where a file name is expected.
      certlist: WireList(Type.Object({ file: WireText }), []),
    },
    about('status', 'vip', 'listener'),
  ),
  services: WireList(
    Type.Object({ id: WireName, farmguardian: WireText, routingpolicy: WireText, backends: backendsOfService }),
    ['id'],
  ),
  // The backends of a farm without services.
  backends: backendsOfService,
});

/** `GET /farms/{farmname}/status` (docs/api.md §3.10): the status word alone, or the number -1. */
export const FarmStatusReply = Type.Object({ params: Type.Object({ status: WireState }, about('status')) });

/** `GET /farms/{farmname}/services/{service}` (docs/api.md §3.10), HTTP farms. */
export const ServiceReply = Type.Object({
  params: Type.Object({ id: WireName, backends: WireRowsOrNull(configuredBackend, keyOfBackend, maxBackends) }),
});

/**
 * `GET /farms/{farmname}/backends` (docs/api.md §3.10), L4xNAT and datalink farms. Unlike in {@link
 * FarmReply}, the status is the one that the statistics show.
 */
export const FarmBackendListReply = Type.Object({
  params: WireRows(
    Type.Object({ ...configuredBackend.properties, status: WireState, max_conns: WireNumber }),
    keyOfBackend,
    maxBackends,
  ),
});

/** `GET /monitoring/fg` (docs/api.md §3.14). */
export const FarmguardianListReply = Type.Object({
  params: WireRows(Type.Object({ name: WireName, farms: WireList(WireName, []) }), ['name']),
});

/** `GET /certificates` (docs/api.md §3.11). */
export const CertificateListReply = Type.Object({
  params: WireRows(
    Type.Object({
      file: WireName,
      type: WireText,
      CN: WireText,
      issuer: WireText,
      creation: WireText,
      expiration: WireText,
      status: WireState,
    }),
    ['file'],
  ),
});

/** `GET /certificates/letsencrypt` and its older spelling (docs/api.md §3.11). */
export const AcmeCertificateListReply = Type.Object({
  params: WireRows(
    Type.Object({
      file: WireName,
      autorenewal: WirePart(Type.Object({ status: WireState, farm: WireText, vip: WireText, restart: WireState })),
    }),
    ['file'],
  ),
});

/**
 * `GET /certificates/activation/info` (docs/api.md §3.19); the machine's `certificate_key` of older
 * releases is left alone.
 */
export const ActivationInfoReply = Type.Object({
  params: Type.Object({ days_to_expire: WireSigned, type: WireText }, about('days_to_expire', 'type')),
});

/** `GET /certificates/activation`: the long text form, not JSON. */
export const ActivationTextReply = Type.String({ pattern: 'Not After|BEGIN CERTIFICATE' });

const versionFields = {
  hostname: WireText,
  appliance_version: WireText,
  kernel_version: WireText,
  relianoid_version: WireText,
  skudonet_version: WireText,
  zevenet_version: WireText,
};

const aboutVersions = about(...Object.keys(versionFields));

/** `GET /system/version` (docs/api.md §3.12). */
export const SystemVersionReply = Type.Object({ params: Type.Object(versionFields, aboutVersions) });

/** `GET /system/info` (docs/api.md §3.12, since 4.0.1). */
export const SystemInfoReply = Type.Object({
  params: Type.Object(
    { ...versionFields, edition: WireState, last_api_version: WireText, last_zapi_version: WireText },
    aboutVersions,
  ),
});

/** `GET /interfaces` and `GET /interfaces/virtual` (docs/api.md §3.13). */
export const InterfaceListReply = Type.Object({
  interfaces: WireRowsOrNull(
    Type.Object({ name: WireName, type: WireText, ip: WireText, mac: WireText, parent: WireText, status: WireState }),
    ['name'],
  ),
});

/** `GET /system/packages` (docs/api.md §3.12). */
export const PackagesReply = Type.Object({
  params: Type.Object({ status: WireState, number: WireNumber }, about('status', 'number')),
});

/** `GET /system/backup` (docs/api.md §3.12). */
export const BackupListReply = Type.Object({
  params: WireRows(Type.Object({ name: WireName, date: WireText }), ['name']),
});

/** `GET /vpns` (docs/api.md §3.15). */
export const VpnListReply = Type.Object({
  params: WireRows(Type.Object({ name: WireName, profile: WireText, status: WireState }), ['name']),
});

/** `GET /system/cluster/nodes/localhost` (docs/api.md §3.12, Enterprise); parsed loosely. */
export const LocalClusterNodeReply = Type.Object({
  params: Type.Object({ name: WireText, role: WireState, status: WireState }, about('role', 'status')),
});

/** `GET /ipds` (docs/api.md §6, Enterprise). */
export const IpdsListReply = Type.Object({
  params: WireRows(Type.Object({ name: WireName, rule: WireText, status: WireState }), ['name', 'rule']),
});

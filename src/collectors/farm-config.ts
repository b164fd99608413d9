import { type Farm, isHttp, type Proxy, proxyOf } from '../appliance/farm.ts';
import type { ReplyOf } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { fitsSegment } from '../appliance/route.ts';
import { backendLabel, backendSettingFamilies, clashingAddresses } from './backends.ts';
import {
  backendObject,
  checkObject,
  farmObject,
  type ConfiguredObject,
  serviceObject,
  settingsOfFarm,
} from './configured.ts';
import { type CollectContext, farmAreas, type PerFarmCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface FarmConfig {
  readonly farm: string;
  /** Files that the farm presents; undefined if the appliance does not report it. */
  readonly certificates: readonly string[] | undefined;
  readonly checks: readonly HealthCheck[];
  /** The protocol of an L4 farm, such as tcp or udp; undefined if the appliance does not report it. */
  readonly protocol: string | undefined;
  /** Whether its proxy logs each request; undefined if that is not reported, as of farms without one. */
  readonly logs: boolean | undefined;
  /** The proxy of an HTTP farm; undefined where nothing tells, as of farms without a service. */
  readonly proxy: Proxy | undefined;
  /** Undefined where the reply has no list of backends at all. */
  readonly backends: readonly ConfiguredBackend[] | undefined;
  /**
   * The farm, its services and their backends, and the health checks that they name; undefined of a
   * farm that is not read, though it may have services.
   */
  readonly objects: readonly ConfiguredObject[] | undefined;
}

export interface HealthCheck {
  readonly service: string;
  /** Undefined when neither the farm's own configuration nor the list of checks says anything. */
  readonly isChecked: boolean | undefined;
}

export interface ConfiguredBackend {
  /** Empty where the farm has no services. */
  readonly service: string;
  readonly backend: string;
  readonly weight: number | undefined;
  readonly priority: number | undefined;
}

const fileRows = rowsOf(({ farm, certificates = [] }: FarmConfig) => certificates.map((file) => ({ farm, file })), {
  farm: ({ farm }) => farm,
  file: ({ file }) => file,
});
const checkRows = rowsOf(({ farm, checks }: FarmConfig) => checks.map((check) => ({ farm, ...check })), {
  farm: ({ farm }) => farm,
  service: ({ service }) => service,
});
/** Backends without a service have their settings from the statistics. */
const backendRows = rowsOf(
  ({ farm, backends = [] }: FarmConfig, { compact }) =>
    compact ? [] : backends.filter(({ service }) => service !== '').map((backend) => ({ farm, ...backend })),
  {
    farm: ({ farm }) => farm,
    service: ({ service }) => service,
    backend: ({ backend }) => backend,
  },
);

/** Farms of these profiles present no certificate, whatever their configuration is. */
export const profilesWithoutCertificates: readonly string[] = ['http', 'l4xnat', 'gslb', 'datalink'];

type FarmReply = ReplyOf<'readFarm'>;

/** The list of health checks; undefined if it is unknown. */
interface ListedChecks {
  /** The name of the check of a farm or a service, as `farm` or `farm_service`. */
  readonly linked: ReadonlyMap<string, string>;
  readonly rows: readonly LinkedCheck[];
}
type LinkedCheck = ReplyOf<'listFarmguardians'>['params'][number];
type LinkedChecks = ListedChecks['linked'] | undefined;

/**
 * Reads the configuration of a farm. Backend states in this reply are not true and not read. For
 * an L4 farm the read may start a daemon and cut all L4 farms (docs/api.md §1.7).
 */
export const farmConfigCollector: PerFarmCollector<FarmConfig> = {
  name: 'farm_config',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  refreshedBy: [...farmAreas, 'farmguardian'],
  // The newest Community line lists a datalink farm and crashes when asked for it (docs/api.md
  // §3.9).
  covers: ({ name, profile, isSilent }) =>
    !isSilent && fitsSegment(name) && name !== 'modules' && profile !== 'datalink',
  async begin(context) {
    const listed = await listChecks(context);
    const linked = listed?.linked;
    return async (farm, { read, safeFarmName }) => {
      const { name, profile } = farm;
      const farmname = await safeFarmName(farm);
      if (!farmname) return withoutDetail(farm, listed);
      const reply = await read('readFarm', { farmname });
      return {
        farm: name,
        certificates: filesOf(profile, reply),
        checks: checksOf(name, reply, linked),
        protocol: reply.params.protocol ?? undefined,
        logs: logsOf(profile, reply),
        proxy: proxyOf(profile, reply),
        backends: backendsIn(reply),
        objects: objectsIn(name, reply, listed),
      };
    };
  },
  families: [
    fileRows.info(
      'zlb_farm_certificate_info',
      'A certificate that an HTTPS farm presents (GET /farms/{farmname}, certlist).',
    ),
    checkRows.gauge(
      'zlb_farm_health_check',
      '1 when a health check is linked; without one an L4 backend is always up (GET /monitoring/fg, farms, and GET /farms/{farmname}, farmguardian).',
      ({ isChecked: value }) => value,
    ),
    backendRows.into(backendSettingFamilies.weight, ({ weight }) => weight),
    backendRows.into(backendSettingFamilies.priority, ({ priority }) => priority),
  ],
  configuredObjects: ({ objects }) => objects,
};

/** Returns what is known of a farm whose configuration is not read: see `safeFarmName`. */
function withoutDetail({ name, profile }: Farm, listed: ListedChecks | undefined): FarmConfig {
  const check = listed?.linked.get(name);
  return {
    farm: name,
    certificates: profilesWithoutCertificates.includes(profile) ? [] : undefined,
    checks: profile === 'l4xnat' ? [{ service: '', isChecked: listed && check !== undefined }] : [],
    protocol: undefined,
    logs: undefined,
    proxy: undefined,
    backends: undefined,
    objects:
      profile === 'l4xnat'
        ? [
            farmObject(name, listed && namesCheckedFarms(listed) ? { farmguardian: check ?? '' } : {}),
            ...checksNamed([check], listed),
          ]
        : undefined,
  };
}

/** Returns false where a release lists checks without the farms that have them. */
function namesCheckedFarms({ rows }: ListedChecks): boolean {
  return rows.length === 0 || rows.some(({ farms }) => farms !== undefined);
}

/**
 * Lists the health checks, with the farms and services that have one (docs/api.md §3.14); farm
 * names have no underscore.
 */
async function listChecks({ read }: CollectContext): Promise<ListedChecks | undefined> {
  try {
    const rows = (await read('listFarmguardians', {})).params;
    const linked = new Map(rows.flatMap(({ name, farms }) => (farms ?? []).map((farm) => [farm, name] as const)));
    return { linked, rows };
  } catch (error) {
    if (error instanceof ApplianceError && (error.reason === 'forbidden' || error.routeMissing)) return undefined;
    throw error;
  }
}

/**
 * Returns the files that the farm presents; undefined if the appliance does not report them, and the
 * farm may present some. An HTTPS farm without any has the number -1 for a file (docs/api.md §3.9).
 */
function filesOf(profile: string, { params: { certlist } }: FarmReply): readonly string[] | undefined {
  if (!certlist && !profilesWithoutCertificates.includes(profile)) return undefined;
  return filesIn(certlist ?? []);
}

function filesIn(list: NonNullable<FarmReply['params']['certlist']>): readonly string[] {
  return list.flatMap(({ file }) => (file && file !== '-1' ? [file] : []));
}

function logsOf(profile: string, { params: { logs } }: FarmReply): boolean | undefined {
  return isHttp(profile) && (logs === 'true' || logs === 'false') ? logs === 'true' : undefined;
}

function checksOf(
  farm: string,
  { params, services, ...rest }: FarmReply,
  linked: LinkedChecks,
): readonly HealthCheck[] {
  if (services) {
    return services.map(({ id, farmguardian }) => ({
      service: id,
      isChecked: isChecked(farmguardian, linked?.has(`${farm}_${id}`)),
    }));
  }
  const isListed = linked?.has(farm);
  return 'farmguardian' in params || isListed || 'backends' in rest
    ? [{ service: '', isChecked: isChecked(params.farmguardian, isListed) }]
    : [];
}

function isChecked(named: string | null | undefined, isListed: boolean | undefined): boolean | undefined {
  if (named || isListed) return true;
  return named === undefined && isListed === undefined ? undefined : false;
}

/**
 * Returns false if a service has no health check, true if all have one, undefined if it is not
 * known of all.
 */
export function areAllChecked(checks: readonly HealthCheck[]): boolean | undefined {
  if (checks.some((check) => check.isChecked === false)) return false;
  return checks.length > 0 && checks.every((check) => check.isChecked) ? true : undefined;
}

function backendsIn({ services, backends }: FarmReply): FarmConfig['backends'] {
  if (!services && !backends) return undefined;
  return [{ id: '', backends: backends ?? null }, ...(services ?? [])].flatMap((service) =>
    withLabels(service).map(([backend, { weight, priority }]) => ({
      service: service.id,
      backend,
      weight: weight ?? undefined,
      priority: priority ?? undefined,
    })),
  );
}

function withLabels({ id, backends }: Pick<NonNullable<FarmReply['services']>[number], 'id' | 'backends'>) {
  const rows = (backends ?? []).map((row) => ({ ...row, service: id }));
  const clashes = clashingAddresses(rows);
  return rows.map((row) => [backendLabel(row, clashes), row] as const);
}

/** Returns what is configured of a farm, with its health check of the list if it does not name one. */
function objectsIn(farm: string, reply: FarmReply, listed: ListedChecks | undefined): readonly ConfiguredObject[] {
  const { params, services } = reply;
  const ownCheck = params.farmguardian ?? listed?.linked.get(farm);
  const certificates = params.certlist && filesIn(params.certlist);
  const ofServices = (services ?? []).flatMap((service) => [
    serviceObject(farm, service.id, service),
    ...withLabels(service).map(([backend, row]) =>
      backendObject({ farm, service: service.id, backend, id: row.id }, row),
    ),
  ]);
  return [
    farmObject(farm, {
      ...settingsOfFarm(params),
      ...(ownCheck !== undefined && { farmguardian: ownCheck }),
      ...(certificates && { certificates: certificates.join(', ') }),
    }),
    ...ofServices,
    ...checksNamed([ownCheck, ...(services ?? []).map((service) => service.farmguardian)], listed),
  ];
}

function checksNamed(
  names: readonly (string | null | undefined)[],
  listed: ListedChecks | undefined,
): readonly ConfiguredObject[] {
  const wanted = new Set(names);
  return (listed?.rows ?? []).filter(({ name }) => wanted.has(name)).map((row) => checkObject(row.name, row));
}

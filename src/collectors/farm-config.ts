import type { Reply } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { fitsSegment } from '../appliance/route.ts';
import { gauge } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { backendLabel, clashingAddresses } from './backend-label.ts';
import { backendSettings } from './backends.ts';
import { type CollectContext, farmAreas, type FarmCollector } from './collector.ts';
import type { ConfiguredBackend } from './findings.ts';

const certificateInUse = gauge(
  'zlb_farm_certificate_info',
  'A certificate that an HTTPS farm presents (GET /farms/{farmname}, certlist).',
  ['farm', 'file'],
);
const healthCheck = gauge(
  'zlb_farm_health_check',
  '1 when a health check is linked; without one an L4 backend is always up (GET /farms/{farmname}, farmguardian, and GET /monitoring/fg, farms).',
  ['farm', 'service'],
);

const profilesWithoutCertificates = ['http', 'l4xnat', 'gslb'];

type Farm = Reply<'readFarm'>;
type LinkedChecks = ReadonlySet<string> | undefined;

/** What changes only when somebody configures it. Backend states in this reply are not true and not read. */
export const farmConfig: FarmCollector = {
  name: 'farm_config',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  touchedBy: [...farmAreas, 'farmguardian'],
  families: [certificateInUse, healthCheck],
  // The newest Community line lists such a farm and crashes when asked for it (WIRE.md §3.9).
  covers: ({ name, profile }) => fitsSegment(name) && name !== 'modules' && profile !== 'datalink',
  async begin(context) {
    const linked = await listLinkedChecks(context);
    return async ({ name, profile }, { read, compact }) => {
      const farm = await read('readFarm', { farmname: name });
      const files = filesOf(profile, farm);
      const checks = checksOf(name, farm, linked);
      return {
        expose(emit) {
          for (const file of files ?? []) emit.info(certificateInUse, { farm: name, file });
          for (const { service, isChecked } of checks)
            emit.sample(healthCheck, { farm: name, service }, isChecked === undefined ? null : Number(isChecked));
          if (!compact) exposeBackendSettings(name, farm, emit);
        },
        found: [
          ...(files ? [{ family: certificateInUse, findings: { certificates: files } }] : []),
          {
            family: healthCheck,
            findings: { hasHealthCheck: areAllChecked(checks), configuredBackends: configuredBackends(farm) },
          },
        ],
      };
    };
  },
};

/**
 * The farms and services with a health check, as `farm` or `farm_service` (WIRE.md §3.14); farm names have no underscore.
 * Undefined when nobody would say.
 */
async function listLinkedChecks({ read }: CollectContext): Promise<LinkedChecks> {
  try {
    const checks = (await read('listFarmguardians', {})).params;
    return new Set(checks.flatMap((check) => check.farms ?? []));
  } catch (error) {
    if (error instanceof ApplianceError && (error.reason === 'forbidden' || error.routeMissing)) return undefined;
    throw error;
  }
}

/** Undefined where nobody says, and the farm may present some. An HTTPS farm without any has the number -1 for a file (WIRE.md §3.9). */
function filesOf(profile: string, { params: { certlist } }: Farm): readonly string[] | undefined {
  if (!certlist && !profilesWithoutCertificates.includes(profile)) return undefined;
  return (certlist ?? []).flatMap(({ file }) => (file && file !== '-1' ? [file] : []));
}

interface ServiceCheck {
  /** Empty where the farm has no services. */
  readonly service: string;
  /** Undefined when neither the farm's own configuration nor the list of checks says anything. */
  readonly isChecked: boolean | undefined;
}

function checksOf(farm: string, { params, services, ...rest }: Farm, linked: LinkedChecks): readonly ServiceCheck[] {
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

/** False as soon as one has none. */
function areAllChecked(checks: readonly ServiceCheck[]): boolean | undefined {
  if (checks.some((check) => check.isChecked === false)) return false;
  return checks.length > 0 && checks.every((check) => check.isChecked) ? true : undefined;
}

/** Undefined where the reply has no list of backends at all. */
function configuredBackends({ services, backends }: Farm): readonly ConfiguredBackend[] | undefined {
  if (!services && !backends) return undefined;
  return [{ id: '', backends }, ...(services ?? [])].flatMap(({ id: service, backends: list }) => {
    const ofService = (list ?? []).map((backend) => ({ ...backend, service }));
    const clashes = clashingAddresses(ofService);
    return ofService.map((backend) => ({ service, backend: backendLabel(backend, clashes) }));
  });
}

function exposeBackendSettings(farm: string, { services }: Farm, emit: Emit): void {
  for (const service of services ?? []) {
    const list = (service.backends ?? []).map((backend) => ({ ...backend, service: service.id }));
    const clashes = clashingAddresses(list);
    for (const backend of list) {
      const labels = { farm, service: service.id, backend: backendLabel(backend, clashes) };
      emit.sample(backendSettings.weight, labels, backend.weight);
      emit.sample(backendSettings.priority, labels, backend.priority);
    }
  }
}

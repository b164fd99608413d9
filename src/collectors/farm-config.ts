import type { Reply } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { fitsSegment } from '../appliance/route.ts';
import { gauge } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { backendLabel, clashingAddresses } from './backend-label.ts';
import { backendSettings } from './backends.ts';
import { type CollectContext, farmAreas, type FarmCollector } from './collector.ts';

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
    return async ({ name }, { read, compact }) => {
      const farm = await read('readFarm', { farmname: name });
      return {
        expose(emit) {
          exposeFarmConfig(name, farm, linked, emit);
          if (!compact) exposeBackendSettings(name, farm, emit);
        },
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

function exposeFarmConfig(farm: string, { params, services, ...rest }: Farm, linked: LinkedChecks, emit: Emit): void {
  for (const { file } of params.certlist ?? []) {
    // An HTTPS farm without certificate has the number -1 for a file (WIRE.md §3.9).
    if (file && file !== '-1') emit.info(certificateInUse, { farm, file });
  }
  if (!services) {
    if ('farmguardian' in params || linked?.has(farm) || 'backends' in rest)
      emit.sample(healthCheck, { farm, service: '' }, isChecked(params.farmguardian, linked?.has(farm)));
    return;
  }
  for (const service of services) {
    const listed = linked?.has(`${farm}_${service.id}`);
    emit.sample(healthCheck, { farm, service: service.id }, isChecked(service.farmguardian, listed));
  }
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

/** Null when neither the farm's own configuration nor the list of checks says anything. */
function isChecked(named: string | null | undefined, listed: boolean | undefined): number | null {
  if (named || listed) return 1;
  return named === undefined && listed === undefined ? null : 0;
}

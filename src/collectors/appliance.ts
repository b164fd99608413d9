import { ApplianceError } from '../appliance/errors.ts';
import { gauge } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import type { ApplianceCollector, CollectContext } from './collector.ts';

const info = gauge(
  'zlb_appliance_info',
  'The appliance, with the labels of its configuration (GET /system/info, else GET /system/version).',
  ['hostname', 'version', 'edition', 'api_version', 'kernel'],
);

interface Description {
  readonly hostname: string;
  readonly version: string;
  readonly edition: string;
  readonly api_version: string;
  readonly kernel: string;
}

/** What the appliance is. A changed version makes the routes that it lacked worth another try. */
export const appliance: ApplianceCollector = {
  name: 'appliance',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  touchedBy: ['activation', 'system'],
  families: [info],
  async collect(context) {
    const description = await describe(context);
    const { edition, version, hostname } = description;
    return {
      expose: (emit) => exposeAppliance(description, context.labels, emit),
      found: [
        {
          family: info,
          findings: {
            ...(version ? { version } : {}),
            ...(hostname ? { hostname } : {}),
            ...(edition ? { edition } : {}),
          },
        },
      ],
      facts: {
        version,
        ...(edition === 'community' || edition === 'enterprise' ? { edition } : {}),
      },
    };
  },
};

async function describe({ read }: CollectContext): Promise<Description> {
  try {
    const { params } = await read('readSystemInfo', {});
    return {
      ...basics(params),
      edition: params.edition ?? '',
      api_version: params.last_api_version ?? params.last_zapi_version ?? '',
    };
  } catch (error) {
    if (!(error instanceof ApplianceError && error.routeMissing)) throw error;
    return { ...basics((await read('readSystemVersion', {})).params), edition: '', api_version: '' };
  }
}

function basics(
  params: Readonly<Record<string, unknown>> & Versions,
): Pick<Description, 'hostname' | 'version' | 'kernel'> {
  return {
    hostname: params.hostname ?? '',
    version:
      params.relianoid_version ?? params.skudonet_version ?? params.zevenet_version ?? params.appliance_version ?? '',
    kernel: params.kernel_version ?? '',
  };
}

interface Versions {
  readonly hostname?: string | null;
  readonly appliance_version?: string | null;
  readonly kernel_version?: string | null;
  readonly relianoid_version?: string | null;
  readonly skudonet_version?: string | null;
  readonly zevenet_version?: string | null;
}

function exposeAppliance(description: Description, labels: Readonly<Record<string, string>>, emit: Emit): void {
  emit.info(info, { ...description }, labels);
}

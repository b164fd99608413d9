import { ApplianceError } from '../appliance/errors.ts';
import { type CollectContext, defineCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

/** Texts are empty where the appliance does not say. */
export interface ApplianceDescription {
  readonly hostname: string;
  readonly version: string;
  readonly edition: string;
  readonly apiVersion: string;
  readonly kernel: string;
  /** The labels of the configuration. */
  readonly labels: Readonly<Record<string, string>>;
}

const ofAppliance = rowsOf((reading: ApplianceDescription) => [reading], {
  hostname: ({ hostname }) => hostname,
  version: ({ version }) => version,
  edition: ({ edition }) => edition,
  api_version: ({ apiVersion }) => apiVersion,
  kernel: ({ kernel }) => kernel,
});

/**
 * Reads the identity of the appliance. After a change of the version, missing routes are tried
 * again.
 */
export const appliance = defineCollector<ApplianceDescription>({
  name: 'appliance',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  refreshedBy: ['activation', 'system'],
  async collect(context) {
    return { ...(await describe(context)), labels: context.labels };
  },
  families: [
    ofAppliance.info(
      'zlb_appliance_info',
      'The appliance, with the labels of its configuration (GET /system/info, else GET /system/version).',
      {},
      ({ labels }) => labels,
    ),
  ],
});

async function describe({ read }: CollectContext): Promise<Omit<ApplianceDescription, 'labels'>> {
  try {
    const { params } = await read('readSystemInfo', {});
    return {
      ...basics(params),
      edition: params.edition ?? '',
      apiVersion: params.last_api_version ?? params.last_zapi_version ?? '',
    };
  } catch (error) {
    if (!(error instanceof ApplianceError && error.routeMissing)) throw error;
    return { ...basics((await read('readSystemVersion', {})).params), edition: '', apiVersion: '' };
  }
}

function basics(
  params: Readonly<Record<string, unknown>> & Versions,
): Pick<ApplianceDescription, 'hostname' | 'version' | 'kernel'> {
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

import type { ReplyOf } from '../appliance/client.ts';
import { type ApplianceWideCollector, type CollectContext, orIfMissing } from './collector.ts';
import { applianceObject, reportedSettings } from './configured.ts';
import { rowsOf } from './rows.ts';

/** Texts are empty where the appliance does not say. */
export interface ApplianceDescription {
  readonly hostname: string;
  /** Undefined where the release has none of the known keys. */
  readonly product: Product | undefined;
  readonly version: string;
  readonly edition: string;
  readonly apiVersion: string;
  readonly kernel: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** RELIANOID first: it names its release as ZEVENET too. */
const products = ['relianoid', 'skudonet', 'zevenet'] as const;

export type Product = (typeof products)[number];

const applianceRows = rowsOf((reading: ApplianceDescription) => [reading], {
  hostname: ({ hostname }) => hostname,
  product: ({ product = 'unknown' }) => product,
  version: ({ version }) => version,
  edition: ({ edition }) => edition,
  api_version: ({ apiVersion }) => apiVersion,
  kernel: ({ kernel }) => kernel,
});

/**
 * Reads the identity of the appliance. After a change of the version, missing routes are tried
 * again.
 */
export const applianceCollector: ApplianceWideCollector<ApplianceDescription> = {
  name: 'appliance',
  schedule: '0 */10 * * * *',
  maxStaleMs: 3_600_000,
  enabled: true,
  refreshedBy: ['activation', 'system'],
  async collect(context) {
    return { ...(await readDescription(context)), labels: context.labels };
  },
  configuredObjects: ({ hostname, product, version, edition, apiVersion, kernel }) => [
    applianceObject('version', '', reportedSettings({ hostname, product, version, edition, api: apiVersion, kernel })),
  ],
  families: [
    applianceRows.info(
      'zlb_appliance_info',
      'The appliance, with the labels of its configuration (GET /system/info, else GET /system/version).',
      {},
      ({ labels }) => labels,
    ),
  ],
};

function readDescription({ read }: CollectContext): Promise<Omit<ApplianceDescription, 'labels'>> {
  return orIfMissing(
    async () => {
      const { params } = await read('readSystemInfo', {});
      const apiVersion = params.last_api_version ?? params.last_zapi_version ?? '';
      return { ...identityOf(params), edition: params.edition ?? '', apiVersion };
    },
    async () => ({ ...identityOf((await read('readSystemVersion', {})).params), edition: '', apiVersion: '' }),
  );
}

/** Names the product by the key under which its release stands (docs/api.md §7). */
function identityOf(params: Versions): Pick<ApplianceDescription, 'hostname' | 'product' | 'version' | 'kernel'> {
  const product = products.find((name) => params[`${name}_version`]);
  return {
    hostname: params.hostname ?? '',
    product,
    version: (product ? params[`${product}_version`] : params.appliance_version) ?? '',
    kernel: params.kernel_version ?? '',
  };
}

type Versions = ReplyOf<'readSystemVersion'>['params'];

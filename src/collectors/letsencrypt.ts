import type { ReplyOf } from '../appliance/client.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { type ApplianceWideCollector, orIfMissing } from './collector.ts';
import { rowsOf } from './rows.ts';

export interface AcmeCertificate {
  /** The file of the certificate store, as in `zlb_certificate_info`. */
  readonly file: string;
  readonly isRenewed: boolean;
  /** The kind of object that answers the challenge on port 80: a farm, or a temporary address. */
  readonly mode: 'farm' | 'vip' | 'unknown';
  /** True if the appliance restarts the farms with the certificate after a renewal. */
  readonly restartsFarms: boolean;
}

/** Undefined where the key may not read them. */
type AcmeCertificates = readonly AcmeCertificate[] | undefined;

const certificateRows = rowsOf((list: AcmeCertificates) => list ?? [], { file: ({ file }) => file });

/**
 * Certificates that the appliance obtains itself. The store has their dates, under the same file.
 */
export const letsencryptCollector: ApplianceWideCollector<AcmeCertificates> = {
  name: 'letsencrypt',
  schedule: '0 */10 * * * *',
  maxStaleMs: 86_400_000,
  enabled: true,
  optional: true,
  refreshedBy: ['letsencrypt'],
  async collect({ read }) {
    try {
      const { params } = await orIfMissing(
        () => read('listAcmeCertificates', {}),
        () => read('listLegacyAcmeCertificates', {}),
      );
      return params.map(toCertificate);
    } catch (error) {
      // Enterprise role checks take the path for the download of a certificate; few appliances have
      // ACME there.
      if (error instanceof ApplianceError && error.reason === 'forbidden') return undefined;
      throw error;
    }
  },
  families: [
    certificateRows.info(
      'zlb_letsencrypt_certificate_info',
      'An ACME certificate and its automatic renewal (GET /certificates/letsencrypt, else letsencryptz).',
      {
        autorenewal: ({ isRenewed }) => String(isRenewed),
        mode: ({ mode }) => mode,
        restart: ({ restartsFarms }) => String(restartsFarms),
      },
    ),
  ],
};

function toCertificate({ file, autorenewal }: ReplyOf<'listAcmeCertificates'>['params'][number]): AcmeCertificate {
  const { status, farm, vip, restart } = autorenewal ?? {};
  return {
    file: storedFile(file),
    isRenewed: status === 'enabled',
    mode: farm ? 'farm' : vip ? 'vip' : 'unknown',
    restartsFarms: restart === 'true',
  };
}

/**
 * Returns the file of the store for a path such as `…/live/www.example.com/fullchain.pem`: the
 * store has `www_example_com.pem` (docs/api.md §3.11).
 */
function storedFile(path: string): string {
  const [, lineage] = /\/([^/]+)\/[^/]+$/.exec(path) ?? [];
  return lineage === undefined ? path : `${lineage.replaceAll('.', '_')}.pem`;
}

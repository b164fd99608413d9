import { statesOf, stateWord } from '../lib/states.ts';
import type { ReplyOf } from '../appliance/client.ts';
import { dateToSeconds } from '../appliance/text-date.ts';
import type { ApplianceWideCollector } from './collector.ts';
import { applianceObject, reportedSettings } from './configured.ts';
import { rowsOf } from './rows.ts';

export interface Certificate {
  readonly file: string;
  readonly kind: 'certificate' | 'csr';
  /** Empty for a certificate that has alternative names alone; the list does not have those. */
  readonly commonName: string;
  readonly issuer: string;
  /** The appliance's word, see `statesOf.certificate`; judge by the date as well. */
  readonly state: string;
  /** Unix seconds; undefined for a signing request, and where the date makes no sense to us. */
  readonly notBeforeSeconds: number | undefined;
  readonly notAfterSeconds: number | undefined;
  /** True when a date that it should have cannot be read. */
  readonly isUnreadable: boolean;
}

const source = '(GET /certificates';
const file = { file: (each: Certificate) => each.file };
const kindRows = rowsOf(countByKind, { kind: ({ kind }) => kind });
// A signing request has no validity; the appliance calls every one of them valid.
const issuedRows = rowsOf((list: readonly Certificate[]) => list.filter(({ kind }) => kind === 'certificate'), file);
const fileRows = rowsOf((list: readonly Certificate[]) => list, file);

/** The certificate store. Only the list is read: a download would carry the private key. */
export const certificatesCollector: ApplianceWideCollector<readonly Certificate[]> = {
  name: 'certificates',
  schedule: '0 */10 * * * *',
  // Dates do not change while the appliance is away, and an expiry must not be hidden by an outage.
  maxStaleMs: 86_400_000,
  enabled: true,
  refreshedBy: ['certificates', 'letsencrypt', 'activation'],
  async collect({ read }) {
    return (await read('listCertificates', {})).params.map(toCertificate);
  },
  entity: issuedRows.entity('certificate', ({ state }) => state),
  configuredObjects: (list) => list.map(toConfigured),
  families: [
    kindRows.gauge('zlb_certificates', `Files in the certificate store ${source}, type).`, ({ count }) => count),
    issuedRows.gauge(
      'zlb_certificate_not_after_timestamp_seconds',
      `Unix time at which a certificate expires ${source}, expiration).`,
      ({ notAfterSeconds }) => notAfterSeconds,
    ),
    issuedRows.stateSet(
      'zlb_certificate_status',
      `The appliance's own word on a certificate; invalid hides expired, so alert on the date as well ${source}, status).`,
      statesOf.certificate,
      ({ state }) => state,
    ),
    fileRows.gauge(
      'zlb_certificate_parse_error',
      `1 when the dates of a certificate cannot be read ${source}, creation and expiration).`,
      ({ isUnreadable }) => isUnreadable,
    ),
    issuedRows.gauge(
      'zlb_certificate_not_before_timestamp_seconds',
      `Unix time from which a certificate is valid ${source}, creation).`,
      ({ notBeforeSeconds }) => notBeforeSeconds,
    ),
    fileRows.info('zlb_certificate_info', `A certificate or signing request in the store ${source}).`, {
      common_name: ({ commonName }) => commonName,
      issuer: ({ issuer }) => issuer,
      kind: ({ kind }) => kind,
    }),
  ],
};

type ListedCertificate = ReplyOf<'listCertificates'>['params'][number];

function toCertificate(listed: ListedCertificate): Certificate {
  const kind = kindOf(listed);
  const begins = dateToSeconds(listed.creation ?? '');
  const ends = dateToSeconds(listed.expiration ?? '');
  const isIssued = kind === 'certificate';
  return {
    file: listed.file,
    kind,
    commonName: nameIn(listed.CN, 'no CN'),
    issuer: nameIn(listed.issuer, 'no issuer'),
    state: stateWord(listed.status),
    notBeforeSeconds: isIssued ? begins : undefined,
    notAfterSeconds: isIssued ? ends : undefined,
    isUnreadable: begins === undefined || (isIssued && ends === undefined),
  };
}

function toConfigured({ file: name, kind, commonName, issuer, notBeforeSeconds, notAfterSeconds }: Certificate) {
  const dates = { not_before: dateOf(notBeforeSeconds), not_after: dateOf(notAfterSeconds) };
  return applianceObject('certificate', name, reportedSettings({ kind, common_name: commonName, issuer, ...dates }));
}

function dateOf(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1_000).toISOString();
}

/** Returns a name; empty for the appliance's word for none. */
function nameIn(text: string | null | undefined, none: string): string {
  return text === none ? '' : (text ?? '');
}

function kindOf({ type, file: name }: ListedCertificate): Certificate['kind'] {
  return (type ?? '').toUpperCase() === 'CSR' || (!type && name.endsWith('.csr')) ? 'csr' : 'certificate';
}

function countByKind(list: readonly Certificate[]): readonly { readonly kind: string; readonly count: number }[] {
  return (['certificate', 'csr'] as const).map((kind) => ({
    kind,
    count: list.filter((each) => each.kind === kind).length,
  }));
}

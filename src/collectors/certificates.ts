import type { Reply } from '../appliance/client.ts';
import { certificateDateToSeconds } from '../lib/text-date.ts';
import { gauge, stateSet } from '../metrics/family.ts';
import type { Emit } from '../metrics/samples.ts';
import { type ApplianceCollector, closedState, stateWord, transitionStates } from './collector.ts';
import type { CertificateFinding } from './findings.ts';

const source = '(GET /certificates';
const info = gauge('zlb_certificate_info', `A certificate or signing request in the store ${source}).`, [
  'file',
  'common_name',
  'issuer',
  'kind',
]);
const notBefore = gauge(
  'zlb_certificate_not_before_timestamp_seconds',
  `Unix time from which a certificate is valid ${source}, creation).`,
  ['file'],
);
const notAfter = gauge(
  'zlb_certificate_not_after_timestamp_seconds',
  `Unix time at which a certificate expires ${source}, expiration).`,
  ['file'],
);
const status = stateSet(
  'zlb_certificate_status',
  `The appliance's own word on a certificate; invalid hides expired, so alert on the date as well ${source}, status).`,
  ['file'],
  transitionStates.certificate,
);
const parseError = gauge(
  'zlb_certificate_parse_error',
  `1 when the dates of a certificate cannot be read ${source}, creation and expiration).`,
  ['file'],
);
const count = gauge('zlb_certificates', `Files in the certificate store ${source}, type).`, ['kind']);

type Listed = Reply<'listCertificates'>['params'][number];

interface Certificate extends Listed {
  readonly kind: 'certificate' | 'csr';
  /** Unix seconds; undefined where the date makes no sense to us. */
  readonly begins: number | undefined;
  readonly ends: number | undefined;
  readonly isUnreadable: boolean;
}

/** The certificate store. Only the list is read: a download would carry the private key. */
export const certificates: ApplianceCollector = {
  name: 'certificates',
  schedule: '0 */10 * * * *',
  // Dates do not change while the appliance is away, and an expiry must not be hidden by an outage.
  maxStaleMs: 86_400_000,
  enabled: true,
  touchedBy: ['certificates', 'letsencrypt', 'activation'],
  families: [count, notAfter, status, parseError, notBefore, info],
  async collect({ read }) {
    const list = (await read('listCertificates', {})).params.map(describe);
    return {
      expose: (emit) => exposeCertificates(list, emit),
      found: [{ family: status, findings: { certificateStore: list.map(toFinding) } }],
      states: list
        .filter(({ kind }) => kind === 'certificate')
        .map((each) => ({ object: 'certificate', labels: { file: each.file }, state: stateWord(each.status) })),
    };
  },
};

function describe(listed: Listed): Certificate {
  const kind = kindOf(listed);
  const begins = certificateDateToSeconds(listed.creation ?? '');
  const ends = certificateDateToSeconds(listed.expiration ?? '');
  const isUnreadable = begins === undefined || (kind === 'certificate' && ends === undefined);
  return { ...listed, kind, begins, ends, isUnreadable };
}

function toFinding({ file, kind, CN, issuer, status: word, ends, isUnreadable }: Certificate): CertificateFinding {
  return {
    file,
    kind,
    commonName: CN ?? '',
    issuer: issuer ?? '',
    state: closedState('certificate', stateWord(word)),
    notAfterSeconds: kind === 'certificate' ? ends : undefined,
    isUnreadable,
  };
}

/** Family by family, what matters most first: over the series limit, the last ones are left out. */
function exposeCertificates(files: readonly Certificate[], emit: Emit): void {
  // A signing request has no validity; the appliance calls every one of them valid.
  const issued = files.filter(({ kind }) => kind === 'certificate');
  emit.sample(count, { kind: 'certificate' }, issued.length);
  emit.sample(count, { kind: 'csr' }, files.length - issued.length);
  for (const { file, ends } of issued) emit.sample(notAfter, { file }, ends);
  for (const each of issued) emit.state(status, { file: each.file }, stateWord(each.status));
  for (const { file, isUnreadable } of files) emit.sample(parseError, { file }, Number(isUnreadable));
  for (const { file, begins } of issued) emit.sample(notBefore, { file }, begins);
  for (const { file, CN, issuer, kind } of files)
    emit.info(info, { file, common_name: CN ?? '', issuer: issuer ?? '', kind });
}

function kindOf({ type, file }: Listed): 'certificate' | 'csr' {
  return (type ?? '').toUpperCase() === 'CSR' || (!type && file.endsWith('.csr')) ? 'csr' : 'certificate';
}

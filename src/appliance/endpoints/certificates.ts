import { CertificateListReply } from '../schemas.ts';
import type { EndpointRow } from './row.ts';

/** The certificate store (docs/api.md §3.11 and §4.4). */
export const certificatesEndpoints = {
  listCertificates: {
    route: 'GET /certificates',
    area: 'certificates',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'list CSR and PEM certificates',
    reply: CertificateListReply,
    maxValues: 100_000,
  },
  createCsr: {
    route: 'POST /certificates',
    area: 'certificates',
    since: '4.0',
    risk: 'reversible',
    body: 'json',
    summary: 'create a CSR (2048-bit key)',
  },
  createPemCertificate: {
    route: 'POST /certificates/pem',
    area: 'certificates',
    since: '4.0.2',
    risk: 'reversible',
    body: 'json',
    summary: 'assemble a PEM from name, key, ca, intermediates',
  },
  downloadCertificate: {
    route: 'GET /certificates/{file}',
    area: 'certificates',
    since: '4.0',
    risk: 'secret',
    body: 'none',
    summary: 'download a certificate file (PEM includes private key)',
  },
  uploadCertificate: {
    route: 'POST /certificates/{file}',
    area: 'certificates',
    since: '4.0',
    risk: 'reversible',
    body: 'pem',
    summary: 'upload a PEM file under that name',
  },
  deleteCertificate: {
    route: 'DELETE /certificates/{file}',
    area: 'certificates',
    since: '4.0',
    risk: 'destructive',
    body: 'none',
    summary: 'delete a certificate and its key file',
  },
  readCertificateInfo: {
    route: 'GET /certificates/{file}/info',
    area: 'certificates',
    since: '4.0',
    risk: 'read',
    body: 'none',
    summary: 'certificate details as plain text',
  },
} as const satisfies Record<string, EndpointRow>;

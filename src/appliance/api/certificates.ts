import { AcmeCertificateListReply, ActivationInfoReply, ActivationTextReply, CertificateListReply } from '../schemas.ts';
import { area, row } from './row.ts';

/** The certificate store (docs/api.md §3.11 and §4.4). */
export const certificatesEndpoints = area('certificates', {
  listCertificates:     row('GET /certificates',             'read',        '4.0',   'list CSR and PEM certificates', { reply: CertificateListReply, maxValues: 100_000 }),
  createCsr:            row('POST /certificates',            'reversible',  '4.0',   'create a CSR (2048-bit key)'),
  createPemCertificate: row('POST /certificates/pem',        'reversible',  '4.0.2', 'assemble a PEM from name, key, ca, intermediates'),
  downloadCertificate:  row('GET /certificates/{file}',      'secret',      '4.0',   'download a certificate file (PEM includes private key)'),
  uploadCertificate:    row('POST /certificates/{file}',     'reversible',  '4.0',   'upload a PEM file under that name', { body: 'pem' }),
  deleteCertificate:    row('DELETE /certificates/{file}',   'destructive', '4.0',   'delete a certificate and its key file'),
  readCertificateInfo:  row('GET /certificates/{file}/info', 'read',        '4.0',   'certificate details as plain text'),
});

/** The licence of the Enterprise Edition (docs/api.md §3.19). */
export const activationEndpoints = area('activation', {
  readActivationCertificate:   row('GET /certificates/activation',      'secret',      '4.0', 'activation certificate text (Enterprise)', { reply: ActivationTextReply }),
  uploadActivationCertificate: row('POST /certificates/activation',     'disruptive',  '4.0', 'upload or replace the activation certificate (Enterprise)', { body: 'text' }),
  deleteActivationCertificate: row('DELETE /certificates/activation',   'destructive', '4.0', 'remove the activation certificate, deactivates the appliance'),
  readActivationInfo:          row('GET /certificates/activation/info', 'read',        null,  'activation certificate summary: days to expire, host name, type (Enterprise)', { reply: ActivationInfoReply }),
});

/**
 * ACME certificates, under the path of today and the one of older product lines (docs/api.md
 * §3.11).
 */
export const letsencryptEndpoints = area('letsencrypt', {
  listAcmeCertificates:        row('GET /certificates/letsencrypt',                  'read',        null, 'list ACME certificates', { reply: AcmeCertificateListReply }),
  // Borrows port 80 of a farm or an address while it runs, and no call takes the issue back.
  issueAcmeCertificate:        row('POST /certificates/letsencrypt',                 'disruptive',  null, 'issue an ACME certificate'),
  readAcmeSettings:            row('GET /certificates/letsencrypt/config',           'read',        null, 'ACME account settings'),
  updateAcmeSettings:          row('PUT /certificates/letsencrypt/config',           'reversible',  null, 'set the ACME account e-mail'),
  readAcmeCertificate:         row('GET /certificates/letsencrypt/{name}',           'read',        null, 'one ACME certificate'),
  updateAcmeCertificate:       row('PUT /certificates/letsencrypt/{name}',           'reversible',  null, 'switch automatic renewal'),
  deleteAcmeCertificate:       row('DELETE /certificates/letsencrypt/{name}',        'destructive', null, 'revoke and delete an ACME certificate'),
  renewAcmeCertificate:        row('POST /certificates/letsencrypt/{name}/actions',  'disruptive',  null, 'renew an ACME certificate, may restart farms'),
  listLegacyAcmeCertificates:  row('GET /certificates/letsencryptz',                 'read',        null, 'older spelling of the ACME list', { reply: AcmeCertificateListReply }),
  issueLegacyAcmeCertificate:  row('POST /certificates/letsencryptz',                'disruptive',  null, 'older spelling of the ACME issue call'),
  readLegacyAcmeSettings:      row('GET /certificates/letsencryptz/config',          'read',        null, 'older spelling of ACME settings'),
  updateLegacyAcmeSettings:    row('PUT /certificates/letsencryptz/config',          'reversible',  null, 'older spelling of ACME settings change'),
  readLegacyAcmeCertificate:   row('GET /certificates/letsencryptz/{name}',          'read',        null, 'older spelling of one ACME certificate'),
  updateLegacyAcmeCertificate: row('PUT /certificates/letsencryptz/{name}',          'reversible',  null, 'older spelling of renewal switch'),
  deleteLegacyAcmeCertificate: row('DELETE /certificates/letsencryptz/{name}',       'destructive', null, 'older spelling of ACME delete'),
  renewLegacyAcmeCertificate:  row('POST /certificates/letsencryptz/{name}/actions', 'disruptive',  null, 'older spelling of ACME renewal'),
});

export const ciphersEndpoints = area('ciphers', {
  listCiphers: row('GET /ciphers', 'read', '4.0', 'list cipher profiles for HTTPS farms'),
});

import { param, type Handlers } from '../call.ts';
import { checkParameters, natural, number, required, text } from '../parameters.ts';
import { done, read, refuse } from '../reply.ts';
import { httpFarmOf } from './find.ts';
import { pending } from './pending.ts';

/** What HTTPS farms do with certificates and ciphers (docs/api.md §3.18, §4.1). */
export const farmCertificateHandlers: Handlers = {
  'POST /farms/{farmname}/certificates': (call) => {
    const description = 'Add a certificate to a farm';
    const farm = httpFarmOf(call, description);
    const file = text(checkParameters(call, description, { file: required({ pattern: /\.pem$/ }) }), 'file');
    if (farm.listener !== 'https') return refuse(400, description, 'The farm does not speak HTTPS.');
    if (!call.world.certificates.has(file)) return refuse(404, description, `There is no certificate ${file}.`);
    if (farm.certificates.includes(file)) return refuse(400, description, 'The farm has it already.');
    // Community has room for one; Enterprise appends (docs/api.md §4.1).
    farm.certificates = call.world.edition === 'community' ? [file] : [...farm.certificates, file];
    return done(description, 'The certificate is added.', { success: 'true', ...pending(farm) });
  },

  'DELETE /farms/{farmname}/certificates/{certificate}': (call) => {
    const description = 'Take a certificate from a farm';
    const farm = httpFarmOf(call, description);
    const file = param(call, 'certificate');
    if (call.world.edition === 'community' || farm.certificates.length < 2)
      return refuse(400, description, 'The last certificate stays.');
    farm.certificates = farm.certificates.filter((other) => other !== file);
    return done(description, 'The certificate is taken out.', { success: 'true', ...pending(farm) });
  },

  'POST /farms/{farmname}/certificates/{certificate}/actions': (call) => {
    const description = 'Order the certificates of a farm';
    const farm = httpFarmOf(call, description);
    const file = param(call, 'certificate');
    const position = number(checkParameters(call, description, { position: required(natural) }), 'position', 0);
    const present = farm.certificates.indexOf(file);
    if (present < 0) return refuse(404, description, 'The farm does not use it.');
    if (present === position) return refuse(400, description, 'It is there already.');
    farm.certificates.splice(present, 1);
    farm.certificates.splice(position, 0, file);
    return done(description, 'The certificate is moved.', {
      params: { position },
      ...pending(farm),
      ...(farm.running ? { info: 'A restart puts it in force.' } : {}),
    });
  },

  'GET /ciphers': ({ world }) => {
    const ciphers = [
      'all',
      'highsecurity',
      'customsecurity',
      ...(world.edition === 'enterprise' ? ['ssloffloading'] : []),
    ];
    return read(
      'Sets of ciphers',
      ciphers.map((set) => ({ ciphers: set, description: `The set ${set}` })),
    );
  },
};

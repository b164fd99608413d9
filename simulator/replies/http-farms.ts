import { done, type Handlers, param, refuse } from '../call.ts';
import {
  anyText,
  checkParameters,
  each,
  type Model,
  natural,
  onlyText,
  setNumbers,
  setTexts,
  text,
  yesNo,
} from '../parameters.ts';
import type { Service } from '../world-farms.ts';
import { serviceView } from './farm-views.ts';
import { httpFarmOf, pending, serviceOf } from './find.ts';

const persistences = ['IP', 'BASIC', 'NONE', 'URL', 'PARM', 'COOKIE', 'HEADER', ''];
const changeModel: Model = {
  vhost: anyText,
  urlp: anyText,
  redirect: { pattern: /^https?:\/\// },
  redirecttype: { nonBlank: true, values: ['default', 'append'] },
  persistence: { values: persistences },
  ttl: natural,
  sessionid: anyText,
  leastresp: yesNo,
  httpsb: yesNo,
};
const enterpriseModel: Model = {
  cookieinsert: yesNo,
  ...each(['cookiename', 'cookiepath', 'cookiedomain'], anyText),
  cookiettl: natural,
  redirect_code: { values: ['301', '302', '307'] },
  sts_status: yesNo,
  sts_timeout: natural,
};

/** Services and certificates of farms. */
export const httpFarmHandlers: Handlers = {
  // Services of farms (docs/api.md §4.2).
  'PUT /farms/{farmname}/services/{service}': (call) => {
    const farm = httpFarmOf(call);
    const service = serviceOf(call, farm);
    const input = checkParameters(call, {
      ...changeModel,
      ...(call.world.edition === 'enterprise' ? enterpriseModel : {}),
    });
    const persistence = text(input, 'persistence', service.persistence);
    service.persistence = persistence === 'NONE' ? '' : persistence;
    setTexts(service, input, ['vhost', 'urlp', 'redirecttype', 'leastresp', 'httpsb']);
    // Both are ignored unless the persistence uses them (docs/api.md §4.2).
    if (service.persistence !== '') setNumbers(service, input, ['ttl']);
    if (['URL', 'COOKIE', 'HEADER'].includes(service.persistence)) setTexts(service, input, ['sessionid']);
    redirect(service, text(input, 'redirect', service.redirect));
    const status = pending(call, farm);
    return done(`The service ${service.id} is changed.`, {
      params: serviceView(call.world, farm, service),
      ...status,
    });
  },

  // Certificates of HTTPS farms (docs/api.md §4.1).
  'POST /farms/{farmname}/certificates': (call) => {
    const farm = httpFarmOf(call);
    const file = onlyText(call, 'file', { pattern: /\.pem$/ });
    if (farm.listener !== 'https') return refuse(400, 'The farm does not speak HTTPS.');
    if (!call.world.certificates.has(file)) return refuse(404, `There is no certificate ${file}.`);
    if (farm.certificates.includes(file)) return refuse(400, 'The farm has it already.');
    // Community farms have one certificate; Enterprise farms append (docs/api.md §4.1).
    farm.certificates = call.world.edition === 'community' ? [file] : [...farm.certificates, file];
    const status = call.world.proxy === 'zproxy' ? {} : pending(call, farm);
    return done('The certificate is added.', { success: 'true', ...status });
  },

  'DELETE /farms/{farmname}/certificates/{certificate}': (call) => {
    const farm = httpFarmOf(call);
    const file = param(call, 'certificate');
    if (call.world.edition === 'community' || farm.certificates.length < 2)
      return refuse(400, 'The last certificate stays.');
    farm.certificates = farm.certificates.filter((other) => other !== file);
    return done('The certificate is taken out.', { success: 'true', ...pending(call, farm) });
  },

  'POST /farms/{farmname}/certificates/{certificate}/actions': (call) => {
    const farm = httpFarmOf(call);
    const file = param(call, 'certificate');
    const position = Number(onlyText(call, 'position', natural));
    const present = farm.certificates.indexOf(file);
    if (present < 0) return refuse(404, 'The farm does not use it.');
    if (present === position) return refuse(400, 'It is there already.');
    farm.certificates.splice(present, 1);
    farm.certificates.splice(position, 0, file);
    return done('The certificate is moved.', {
      params: { position },
      ...pending(call, farm),
      ...(farm.running ? { info: 'A restart puts it in force.' } : {}),
    });
  },
};

/** Sets a redirect; the backends of the service are lost (docs/api.md §4.2). */
function redirect(service: Service, to: string): void {
  if (to !== '' && to !== service.redirect) service.backends = [];
  service.redirect = to;
  if (to === '') service.redirecttype = '';
  else if (service.redirecttype === '') service.redirecttype = 'default';
}

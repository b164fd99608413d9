import { type Call, created, done, type Handlers, param, read, refuse, type Reply } from '../call.ts';
import {
  anyText,
  checkParameters,
  each,
  type Model,
  natural,
  onlyText,
  required,
  setNumbers,
  setTexts,
  text,
  yesNo,
} from '../parameters.ts';
import type { HeaderRule, HeaderRuleKind, Service } from '../world-farms.ts';
import { service as newService } from '../world-parts.ts';
import { serviceView } from './farm-views.ts';
import { farmOf, httpFarmOf, pending, serviceOf } from './find.ts';

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

const ruleFields: Readonly<Record<HeaderRuleKind, readonly string[]>> = {
  addheader: ['header'],
  headremove: ['pattern'],
  addresponseheader: ['header'],
  removeresponseheader: ['pattern'],
  replacerequestheader: ['header', 'match', 'replace'],
  replaceresponseheader: ['header', 'match', 'replace'],
};

/** Services, certificates and header rules of farms. */
export const httpFarmHandlers: Handlers = {
  // Services of farms (docs/api.md §4.2).
  'POST /farms/{farmname}/services': (call) => {
    const farm = farmOf(call);
    const input = checkParameters(call, {
      id: required({ pattern: /^[A-Za-z0-9][A-Za-z0-9-]*$/ }),
      algorithm: { nonBlank: true },
    });
    const id = text(input, 'id');
    if (farm.profile === 'gslb') {
      const algorithm = text(input, 'algorithm', 'roundrobin');
      farm.services.push({ id, algorithm, deftcpport: 80, farmguardian: null, backends: [] });
      return created(`The service ${id} is made.`, { id, algorithm });
    }
    if (farm.profile !== 'http') return refuse(400, `Farms of the profile ${farm.profile} have no services.`);
    if (farm.services.some((service) => service.id === id)) return refuse(400, `There is a service ${id}.`);
    farm.services.push(newService(id));
    return created(`The service ${id} is made.`, { id }, pending(farm));
  },

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
    const status = pending(farm);
    return done(`The service ${service.id} is changed.`, {
      params: serviceView(call.world, service),
      ...status,
    });
  },

  'DELETE /farms/{farmname}/services/{service}': (call) => {
    const farm = httpFarmOf(call);
    // 400, not 404 (docs/api.md §4.2).
    const service = serviceOf(call, farm, 400);
    farm.services = farm.services.filter((other) => other !== service);
    return done(`The service ${service.id} is gone.`, { success: 'true', ...pending(farm) });
  },

  // Stops and starts a running farm inside the call (docs/api.md §4.2).
  'POST /farms/{farmname}/services/{service}/actions': (call) => {
    const farm = httpFarmOf(call, 404);
    const service = serviceOf(call, farm);
    const position = Number(onlyText(call, 'position', natural));
    if (farm.services.indexOf(service) === position) return refuse(400, 'It is there already.');
    farm.services = farm.services.filter(({ id }) => id !== param(call, 'service'));
    farm.services.splice(position, 0, service);
    farm.needsRestart = false;
    return done('The service is moved.', { params: { position } });
  },

  // Certificates and ciphers of HTTPS farms (docs/api.md §4.1).
  'POST /farms/{farmname}/certificates': (call) => {
    const farm = httpFarmOf(call);
    const file = onlyText(call, 'file', { pattern: /\.pem$/ });
    if (farm.listener !== 'https') return refuse(400, 'The farm does not speak HTTPS.');
    if (!call.world.certificates.has(file)) return refuse(404, `There is no certificate ${file}.`);
    if (farm.certificates.includes(file)) return refuse(400, 'The farm has it already.');
    // Community farms have one certificate; Enterprise farms append (docs/api.md §4.1).
    farm.certificates = call.world.edition === 'community' ? [file] : [...farm.certificates, file];
    return done('The certificate is added.', { success: 'true', ...pending(farm) });
  },

  'DELETE /farms/{farmname}/certificates/{certificate}': (call) => {
    const farm = httpFarmOf(call);
    const file = param(call, 'certificate');
    if (call.world.edition === 'community' || farm.certificates.length < 2)
      return refuse(400, 'The last certificate stays.');
    farm.certificates = farm.certificates.filter((other) => other !== file);
    return done('The certificate is taken out.', { success: 'true', ...pending(farm) });
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
      ...pending(farm),
      ...(farm.running ? { info: 'A restart puts it in force.' } : {}),
    });
  },

  'GET /ciphers': ({ world }) => {
    const sets = [
      'all',
      'highsecurity',
      'customsecurity',
      ...(world.edition === 'enterprise' ? ['ssloffloading'] : []),
    ];
    return read(sets.map((set) => ({ ciphers: set, description: `The set ${set}` })));
  },

  // Header rules of HTTP farms. A deletion shifts the indexes of those after it (docs/api.md §4.3).
  ...ruleHandlersOf('addheader'),
  ...ruleHandlersOf('headremove'),
  ...ruleHandlersOf('addresponseheader'),
  ...ruleHandlersOf('removeresponseheader'),
  ...ruleHandlersOf('replacerequestheader'),
  ...ruleHandlersOf('replaceresponseheader'),
  'POST /farms/{farmname}/replacerequestheader/{index}/actions': (call) => moveRule(call, 'replacerequestheader'),
  'POST /farms/{farmname}/replaceresponseheader/{index}/actions': (call) => moveRule(call, 'replaceresponseheader'),
};

/** Sets a redirect; the backends of the service are lost (docs/api.md §4.2). */
function redirect(service: Service, to: string): void {
  if (to !== '' && to !== service.redirect) service.backends = [];
  service.redirect = to;
  if (to === '') service.redirecttype = '';
  else if (service.redirecttype === '') service.redirecttype = 'default';
}

function ruleHandlersOf(kind: HeaderRuleKind): Handlers {
  const model = each(ruleFields[kind], required(anyText));
  const rule = (call: Call): HeaderRule => {
    const input = checkParameters(call, model);
    return Object.fromEntries(ruleFields[kind].map((field) => [field, text(input, field)]));
  };
  return {
    [`POST /farms/{farmname}/${kind}`]: (call) => {
      const farm = httpFarmOf(call);
      const made = rule(call);
      if (farm.rules[kind].some((other) => JSON.stringify(other) === JSON.stringify(made)))
        return refuse(400, 'There is such a rule.');
      farm.rules[kind].push(made);
      return done('The rule is made.', { success: 'true', ...pending(farm) });
    },
    [`PUT /farms/{farmname}/${kind}/{index}`]: (call) => {
      const { farm, rules, index } = ruleOf(call, kind);
      rules[index] = rule(call);
      return done('The rule is changed.', { success: 'true', ...pending(farm) });
    },
    [`DELETE /farms/{farmname}/${kind}/{index}`]: (call) => {
      const { farm, rules, index } = ruleOf(call, kind);
      rules.splice(index, 1);
      return done('The rule is gone.', { success: 'true', ...pending(farm) });
    },
  };
}

/** Moves a rule within its kind; the appliance applies the rules of some kinds in order. */
function moveRule(call: Call, kind: HeaderRuleKind): Reply {
  const { farm, rules, index } = ruleOf(call, kind);
  const position = Number(onlyText(call, 'position', natural));
  rules.splice(position, 0, ...rules.splice(index, 1));
  return done('The rule is moved.', { params: { position }, ...pending(farm) });
}

function ruleOf(call: Call, kind: HeaderRuleKind) {
  const farm = httpFarmOf(call);
  const index = Number(param(call, 'index'));
  if (!farm.rules[kind][index]) return refuse(400, `There is no rule ${index}.`);
  return { farm, rules: farm.rules[kind], index };
}

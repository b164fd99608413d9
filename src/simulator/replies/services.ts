import { param, type Handlers } from '../call.ts';
import { anyText, checkParameters, natural, number, required, text, yesNo, type Model } from '../parameters.ts';
import { created, done, refuse } from '../reply.ts';
import type { Service } from '../world-farms.ts';
import { service as newService } from '../world-parts.ts';
import { pending } from './pending.ts';
import { serviceView } from './farm-views.ts';
import { farmOf, httpFarmOf, serviceOf } from './find.ts';

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
  cookiename: anyText,
  cookiepath: anyText,
  cookiedomain: anyText,
  cookiettl: natural,
  redirect_code: { values: ['301', '302', '307'] },
  sts_status: yesNo,
  sts_timeout: natural,
};

/** Services of farms (docs/api.md §4.2). */
export const serviceHandlers: Handlers = {
  'POST /farms/{farmname}/services': (call) => {
    const description = 'Make a service';
    const farm = farmOf(call, description);
    const input = checkParameters(call, description, {
      id: required({ pattern: /^[A-Za-z0-9][A-Za-z0-9-]*$/ }),
      algorithm: { nonBlank: true },
    });
    const id = text(input, 'id');
    if (farm.profile === 'gslb') {
      const algorithm = text(input, 'algorithm', 'roundrobin');
      farm.services.push({ id, algorithm, deftcpport: 80, farmguardian: null, backends: [] });
      return created(description, `The service ${id} is made.`, { id, algorithm });
    }
    if (farm.profile !== 'http')
      return refuse(400, description, `Farms of the profile ${farm.profile} have no services.`);
    if (farm.services.some((service) => service.id === id))
      return refuse(400, description, `There is a service ${id}.`);
    farm.services.push(newService(id));
    return created(description, `The service ${id} is made.`, { id }, pending(farm));
  },

  'PUT /farms/{farmname}/services/{service}': (call) => {
    const description = 'Change a service';
    const farm = httpFarmOf(call, description);
    const service = serviceOf(call, farm, description);
    const input = checkParameters(call, description, {
      ...changeModel,
      ...(call.world.edition === 'enterprise' ? enterpriseModel : {}),
    });
    const persistence = text(input, 'persistence', service.persistence);
    service.persistence = persistence === 'NONE' ? '' : persistence;
    for (const key of ['vhost', 'urlp', 'redirecttype', 'leastresp', 'httpsb'] as const)
      service[key] = text(input, key, service[key]);
    // Both are overlooked unless the persistence uses them (docs/api.md §4.2).
    if (service.persistence !== '') service.ttl = number(input, 'ttl', service.ttl);
    if (['URL', 'COOKIE', 'HEADER'].includes(service.persistence))
      service.sessionid = text(input, 'sessionid', service.sessionid);
    redirect(service, text(input, 'redirect', service.redirect));
    const status = pending(farm);
    return done(description, `The service ${service.id} is changed.`, {
      params: serviceView(call.world, service),
      ...status,
    });
  },

  'DELETE /farms/{farmname}/services/{service}': (call) => {
    const description = 'Delete a service';
    const farm = httpFarmOf(call, description);
    // 400, not 404 (docs/api.md §4.2).
    const service = serviceOf(call, farm, description, 400);
    farm.services = farm.services.filter((other) => other !== service);
    return done(description, `The service ${service.id} is gone.`, { success: 'true', ...pending(farm) });
  },

  // Stops and starts a running farm inside the call (docs/api.md §4.2).
  'POST /farms/{farmname}/services/{service}/actions': (call) => {
    const description = 'Order the services of a farm';
    const farm = httpFarmOf(call, description, 404);
    const service = serviceOf(call, farm, description);
    const position = number(checkParameters(call, description, { position: required(natural) }), 'position', 0);
    if (farm.services.indexOf(service) === position) return refuse(400, description, 'It is there already.');
    farm.services = farm.services.filter(({ id }) => id !== param(call, 'service'));
    farm.services.splice(position, 0, service);
    farm.needsRestart = false;
    return done(description, 'The service is moved.', { params: { position } });
  },
};

/** A redirect takes the place of the backends, which are lost (docs/api.md §4.2). */
function redirect(service: Service, to: string): void {
  if (to !== '' && to !== service.redirect) service.backends = [];
  service.redirect = to;
  if (to === '') service.redirecttype = '';
  else if (service.redirecttype === '') service.redirecttype = 'default';
}

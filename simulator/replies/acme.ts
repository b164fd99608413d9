import { type Call, done, type Handlers, param, read, refuse, type Reply } from '../call.ts';
import { anyText, checkParameters, list, required, text, yesNo } from '../parameters.ts';
import type { AcmeCertificate } from '../world.ts';
import { listEntry } from './certificates.ts';

/** ACME certificates, under both spellings of the path (docs/api.md §3.11). */
export const acmeHandlers: Handlers = { ...handlersAt('letsencrypt'), ...handlersAt('letsencryptz') };

function handlersAt(word: string): Handlers {
  return {
    [`GET /certificates/${word}`]: (call) =>
      read(
        'ACME certificates',
        [...call.world.acme.values()].map((each) => entry(call, each)),
      ),
    [`POST /certificates/${word}`]: obtain,
    [`GET /certificates/${word}/config`]: ({ world }) =>
      read('ACME settings', { email: world.settings.letsencryptEmail }),
    [`PUT /certificates/${word}/config`]: (call) => {
      const description = 'Change the ACME settings';
      const email = text(checkParameters(call, description, { email: required({ pattern: /^\S+@\S+$/ }) }), 'email');
      call.world.settings.letsencryptEmail = email;
      return done(description, 'The settings are changed.', { params: { email } });
    },
    [`GET /certificates/${word}/{name}`]: (call) => {
      const description = 'An ACME certificate';
      return read(description, entry(call, find(call, description)));
    },
    [`PUT /certificates/${word}/{name}`]: switchRenewal,
    [`DELETE /certificates/${word}/{name}`]: (call) => {
      const description = 'Revoke an ACME certificate';
      const { name } = find(call, description);
      call.world.acme.delete(name);
      call.world.certificates.delete(storedFile(name));
      return done(description, `${name} is gone.`);
    },
    [`POST /certificates/${word}/{name}/actions`]: renew,
  };
}

function obtain(call: Call): Reply {
  const description = 'Obtain an ACME certificate';
  const input = checkParameters(call, description, {
    domains: required({ list: true }),
    test: required(yesNo),
    farmname: anyText,
    vip: anyText,
    force: yesNo,
  });
  return done(description, `A certificate for ${list(input, 'domains').join(', ')} is on its way.`);
}

function switchRenewal(call: Call): Reply {
  const description = 'Change the automatic renewal';
  const certificate = find(call, description);
  const input = checkParameters(call, description, {
    autorenewal: required(yesNo),
    force_renewal: yesNo,
    restart: yesNo,
    farmname: anyText,
    vip: anyText,
  });
  certificate.renewal =
    text(input, 'autorenewal') === 'true'
      ? {
          farm: text(input, 'farmname') || null,
          vip: text(input, 'vip') || null,
          force: text(input, 'force_renewal') === 'true',
          restart: text(input, 'restart') === 'true',
        }
      : undefined;
  return done(description, `${certificate.name} is changed.`, { params: entry(call, certificate) });
}

/** Puts a new certificate of the same life into the store. */
function renew(call: Call): Reply {
  const description = 'Renew an ACME certificate';
  const { name } = find(call, description);
  checkParameters(call, description, {
    action: required({ values: ['renew'] }),
    force_renewal: yesNo,
    restart: yesNo,
    farmname: anyText,
    vip: anyText,
  });
  const stored = call.world.certificates.get(storedFile(name));
  if (stored?.notBefore !== undefined && stored.notAfter !== undefined) {
    const notAfter = call.nowMs + stored.notAfter - stored.notBefore;
    // Another one: a farm that has loaded the old one goes on with it.
    call.world.certificates.set(stored.file, { ...stored, notBefore: call.nowMs, notAfter });
  }
  return done(description, `${name} is renewed.`);
}

function entry({ world, nowMs }: Call, { name, domains, renewal }: AcmeCertificate) {
  const stored = world.certificates.get(storedFile(name));
  return {
    ...(stored && listEntry(stored, nowMs)),
    file: `/usr/local/${world.product}/config/letsencrypt/live/${name}/fullchain.pem`,
    type: 'LE Certificate',
    wildcard: String(domains.some((domain) => domain.startsWith('*.'))),
    domains,
    autorenewal: {
      status: renewal ? 'enabled' : 'disabled',
      farm: renewal?.farm ?? null,
      vip: renewal?.vip ?? null,
      force: renewal ? String(renewal.force) : null,
      restart: renewal ? String(renewal.restart) : null,
    },
  };
}

/** Returns the name under which the store has an ACME certificate. */
function storedFile(name: string): string {
  return `${name.replaceAll('.', '_')}.pem`;
}

function find(call: Call, description: string): AcmeCertificate {
  const name = param(call, 'name');
  return call.world.acme.get(name) ?? refuse(400, description, `There is no certificate ${name}.`);
}

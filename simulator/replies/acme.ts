import { type Call, done, flag, type Handlers, named, read, type Reply } from '../call.ts';
import { anyText, checkParameters, list, type Model, onlyText, required, text, yesNo } from '../parameters.ts';
import type { AcmeCertificate } from '../world-certificates.ts';
import { listEntry } from './certificates.ts';

const renewalModel: Model = { force_renewal: yesNo, restart: yesNo, farmname: anyText, vip: anyText };

/** ACME certificates, under both spellings of the path (docs/api.md §3.11). */
export const acmeHandlers: Handlers = { ...handlersAt('letsencrypt'), ...handlersAt('letsencryptz') };

function handlersAt(word: string): Handlers {
  return {
    [`GET /certificates/${word}`]: (call) => read([...call.world.acme.values()].map((each) => entry(call, each))),
    [`POST /certificates/${word}`]: obtain,
    [`GET /certificates/${word}/config`]: ({ world }) => read({ email: world.settings.letsencryptEmail }),
    [`PUT /certificates/${word}/config`]: (call) => {
      const email = onlyText(call, 'email', { pattern: /^\S+@\S+$/ });
      call.world.settings.letsencryptEmail = email;
      return done('The settings are changed.', { params: { email } });
    },
    [`GET /certificates/${word}/{name}`]: (call) => read(entry(call, named(call, call.world.acme, 'name', 400))),
    [`PUT /certificates/${word}/{name}`]: switchRenewal,
    [`DELETE /certificates/${word}/{name}`]: (call) => {
      const { name } = named(call, call.world.acme, 'name', 400);
      call.world.acme.delete(name);
      call.world.certificates.delete(storedFile(name));
      return done(`${name} is gone.`);
    },
    [`POST /certificates/${word}/{name}/actions`]: renew,
  };
}

function obtain(call: Call): Reply {
  const input = checkParameters(call, {
    domains: required({ list: true }),
    test: required(yesNo),
    farmname: anyText,
    vip: anyText,
    force: yesNo,
  });
  return done(`A certificate for ${list(input, 'domains').join(', ')} is on its way.`);
}

function switchRenewal(call: Call): Reply {
  const certificate = named(call, call.world.acme, 'name', 400);
  const input = checkParameters(call, { autorenewal: required(yesNo), ...renewalModel });
  certificate.renewal =
    text(input, 'autorenewal') === 'true'
      ? {
          farm: text(input, 'farmname') || null,
          vip: text(input, 'vip') || null,
          force: text(input, 'force_renewal') === 'true',
          restart: text(input, 'restart') === 'true',
        }
      : undefined;
  return done(`${certificate.name} is changed.`, { params: entry(call, certificate) });
}

/** Puts a new certificate of the same life into the store. */
function renew(call: Call): Reply {
  const { name } = named(call, call.world.acme, 'name', 400);
  checkParameters(call, { action: required({ values: ['renew'] }), ...renewalModel });
  const stored = call.world.certificates.get(storedFile(name));
  if (stored?.notBefore !== undefined && stored.notAfter !== undefined) {
    const notAfter = call.nowMs + stored.notAfter - stored.notBefore;
    // Another one: a farm that has loaded the old one goes on with it.
    call.world.certificates.set(stored.file, { ...stored, notBefore: call.nowMs, notAfter });
  }
  return done(`${name} is renewed.`);
}

function entry({ world, nowMs }: Call, { name, domains, renewal }: AcmeCertificate) {
  const stored = world.certificates.get(storedFile(name));
  return {
    ...(stored && listEntry(stored, nowMs)),
    file: `/usr/local/${world.product}/config/letsencrypt/live/${name}/fullchain.pem`,
    type: 'LE Certificate',
    wildcard: flag(domains.some((domain) => domain.startsWith('*.'))),
    domains,
    autorenewal: renewal
      ? { ...renewal, status: 'enabled', force: flag(renewal.force), restart: flag(renewal.restart) }
      : { status: 'disabled', farm: null, vip: null, force: null, restart: null },
  };
}

/** Returns the name under which the store has an ACME certificate. */
function storedFile(name: string): string {
  return `${name.replaceAll('.', '_')}.pem`;
}

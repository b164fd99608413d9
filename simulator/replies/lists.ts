import { type Call, flag, type Handlers, read } from '../call.ts';
import type { AcmeCertificate } from '../world-certificates.ts';
import { listEntry } from './certificates.ts';

/**
 * Reads of optional parts: ACME certificates under both spellings of the path, VPNs and intrusion
 * prevention (docs/api.md §3.11, §3.15, §6).
 */
export const listHandlers: Handlers = {
  'GET /certificates/letsencrypt': acmeList,
  'GET /certificates/letsencryptz': acmeList,

  'GET /vpns': ({ world }) =>
    read([...world.vpns.values()].map(({ name, profile, status }) => ({ name, profile, status }))),

  'GET /ipds': ({ world }) => read([...world.ipds.values()].map(({ name, rule, status }) => ({ name, rule, status }))),
};

function acmeList(call: Call) {
  return read([...call.world.acme.values()].map((each) => acmeEntry(call, each)));
}

function acmeEntry({ world, nowMs }: Call, { name, domains, renewal }: AcmeCertificate) {
  const stored = world.certificates.get(`${name.replaceAll('.', '_')}.pem`);
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

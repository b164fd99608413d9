import type { Handlers } from '../call.ts';
import { daysToExpire, readLicence } from '../licence.ts';
import { crash, done, read, refuse } from '../reply.ts';
import { serialise } from '../serialise.ts';
import type { World } from '../world.ts';
import { licenceText } from './certificate-text.ts';

/** The licence of the Enterprise Edition (docs/api.md §3.19, §5.5); Community takes these paths for file names. */
export const activationHandlers: Handlers = {
  'GET /certificates/activation': ({ world }) => ({
    kind: 'text',
    status: 200,
    text: licenceText(installed(world, 'The activation certificate')),
  }),

  'GET /certificates/activation/info': ({ world, nowMs }) => {
    const description = 'About the activation certificate';
    const licence = installed(world, description);
    const facts = { days_to_expire: daysToExpire(licence, nowMs), hostname: licence.hostname, type: licence.kind };
    if (world.release === 'newest') return read(description, facts);
    // Early builds say more, and label their JSON as text (docs/api.md §7).
    const more = {
      certificate_key: world.activation.certificateKey,
      host_key: world.activation.certificateKey,
      support: 'true',
    };
    return {
      kind: 'text',
      status: 200,
      text: serialise({ description, params: { ...facts, ...more } }, world.release),
    };
  },

  'POST /certificates/activation': ({ world, json, content, nowMs }) => {
    const description = 'Upload an activation certificate';
    if (json) crash();
    const licence = content.length === 0 ? 'Nothing was sent.' : readLicence(content.toString(), nowMs);
    // A refused file leaves the old one in place.
    if (typeof licence === 'string') return refuse(400, description, licence);
    world.activation.installed = licence;
    world.activation.refusedBecause = undefined;
    return done(description, 'The activation certificate is stored.');
  },

  'DELETE /certificates/activation': ({ world }) => {
    world.activation.installed = undefined;
    return done('Delete the activation certificate', 'The activation certificate is gone.');
  },
};

function installed(world: World, description: string) {
  return world.activation.installed ?? refuse(404, description, 'No activation certificate is installed.');
}

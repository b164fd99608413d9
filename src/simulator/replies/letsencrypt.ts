import { param, type Call, type Handlers } from '../call.ts';
import { checkParameters, list, required, text, yesNo, anyText } from '../parameters.ts';
import { done, read, refuse, type Reply } from '../reply.ts';

/** ACME certificates: none is held, so that the reads are empty (docs/api.md §3.11); both spellings of the path. */
export const letsencryptHandlers: Handlers = { ...handlersAt('letsencrypt'), ...handlersAt('letsencryptz') };

function handlersAt(word: string): Handlers {
  return {
    [`GET /certificates/${word}`]: () => read('ACME certificates', []),
    [`POST /certificates/${word}`]: obtain,
    [`GET /certificates/${word}/config`]: ({ world }) =>
      read('ACME settings', { email: world.settings.letsencryptEmail }),
    [`PUT /certificates/${word}/config`]: (call) => {
      const description = 'Change the ACME settings';
      const email = text(checkParameters(call, description, { email: required({ pattern: /^\S+@\S+$/ }) }), 'email');
      call.world.settings.letsencryptEmail = email;
      return done(description, 'The settings are changed.', { params: { email } });
    },
    [`GET /certificates/${word}/{name}`]: missing,
    [`PUT /certificates/${word}/{name}`]: missing,
    [`DELETE /certificates/${word}/{name}`]: missing,
    [`POST /certificates/${word}/{name}/actions`]: missing,
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

function missing(call: Call): Reply {
  return refuse(404, 'An ACME certificate', `There is no certificate ${param(call, 'name')}.`);
}

import { AdminError } from '../admin-error.ts';
import { contentTypes } from '../content.ts';
import { readEdition } from './edition.ts';
import { day, readPemFile } from './pem-file.ts';
import { callStep, type Recipe, type RecipeContext, type Step } from './recipe.ts';

/** WIRE.md §3.19 and §5.5. */
export const installActivation: Recipe = {
  name: 'install-activation',
  about: 'install an activation certificate and see that the appliance is activated',
  parameters: { file: true },
  async plan(context) {
    const { calls, values } = context;
    const { bytes, names, certificate } = await readPemFile(values.file ?? '');
    const edition = await readEdition(context);
    if (edition === 'community') {
      throw new AdminError(`${calls.appliance} is a Community appliance, which needs no activation`, {
        detail: 'It would store the file as a stray certificate. Nothing was changed.',
        remedy: 'Check the name of the appliance.',
      });
    }
    return {
      facts: [
        `${values.file}: for ${names.join(', ') || 'no host name'}, from ${day(certificate.validFromDate)} to ${day(certificate.validToDate)}.`,
        edition === 'deactivated'
          ? `${calls.appliance} is deactivated: it answers 402.`
          : `${calls.appliance} is not deactivated; edition ${edition}.`,
        'The appliance refuses a file that is not for it, and then keeps the one it has.',
      ],
      steps: [
        callStep({
          title: 'Upload the activation certificate',
          write: {
            key: 'uploadActivationCertificate',
            params: {},
            content: { type: contentTypes.text, bytes },
          },
          done: 'The appliance took it.',
          undo: 'the same command with the file of before; the appliance does not give it out again',
        }),
        verifyActivated(context),
        verifyExpiry(context),
      ],
    };
  },
};

/** Only a call behind the check proves it. */
function verifyActivated({ calls }: RecipeContext): Step {
  return {
    title: 'See that it is activated',
    async run() {
      const { hostname } = (await calls.read('readSystemVersion', {})).params;
      return `${hostname ?? calls.appliance} is activated.`;
    },
  };
}

function verifyExpiry({ calls }: RecipeContext): Step {
  return {
    title: 'Read how long it lasts',
    async run() {
      try {
        const { days_to_expire: days, type } = (await calls.read('readActivationInfo', {})).params;
        return `It is ${type ?? 'of an unknown kind'} and ends in ${days ?? 'an unknown number of'} days.`;
      } catch (error) {
        if (!(error instanceof AdminError) || error.status !== 404) throw error;
        return 'This release does not tell.';
      }
    },
  };
}

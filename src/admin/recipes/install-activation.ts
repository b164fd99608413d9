import { X509Certificate } from 'node:crypto';
import { certificatesIn, namesOf } from '../../lib/pem.ts';
import { plural } from '../../lib/text.ts';
import { dayOf } from '../../lib/time.ts';
import { lifeOf } from '../../lib/chain.ts';
import { AdminError } from '../policy/admin-error.ts';
import { bodyTypes } from '../policy/operation.ts';
import { type ApplianceEdition, readEdition } from './calls.ts';
import { callStep, type Recipe, type RecipeContext, type Step } from './recipe.ts';
import { assertValidNow, unusableFile } from './new-certificate.ts';

const dayMs = 86_400_000;

/** Follows docs/api.md §3.19 and §5.5. */
export const installActivation: Recipe = {
  name: 'install-activation',
  about: 'install an activation certificate and see that the appliance is activated',
  parameters: {},
  files: { file: { isRequired: true, sendsKey: false } },
  async plan(context) {
    const { calls, files, now } = context;
    const certificates = certificatesIn(files.file ?? '');
    if ('error' in certificates)
      throw unusableFile(`It ${certificates.error}.`, 'Give the file as it was issued, in PEM.');
    // An appliance reads the first one only (docs/api.md §3.11).
    const certificate = new X509Certificate(certificates.value);
    assertValidNow(certificate, now());
    const edition = await readEdition(context);
    if (edition === 'community') {
      throw new AdminError(`${calls.appliance} is a Community appliance, which needs no activation`, {
        detail: 'It would store the file as a stray certificate. Nothing was changed.',
        remedy: 'Check the name of the appliance.',
      });
    }
    const before = await readInstalled(context);
    const hostname = await readHostname(context, edition);
    const names = namesOf(certificate);
    const { startsAtMs, endsAtMs } = lifeOf(certificate);
    return {
      facts: [
        `The file is for ${names.join(', ') || 'no host name'}, from ${dayOf(startsAtMs)} to ${dayOf(endsAtMs)}.`,
        edition === 'deactivated'
          ? `${calls.appliance} is deactivated: it answers 402.`
          : `${calls.appliance} is not deactivated; edition ${edition}.`,
        ...(names.length === 0 || hostname === undefined || names.includes(hostname)
          ? []
          : [`Note: it is not for ${hostname}, the host name of ${calls.appliance}.`]),
        ...(before !== undefined && endsEarlier((endsAtMs - now()) / dayMs, before)
          ? [`Note: it ends before the present one, which ${expiryText(before.days)}.`]
          : []),
        'The appliance refuses a file that is not for it, and then keeps the one it has.',
      ],
      steps: [
        callStep({
          title: 'Upload the activation certificate',
          write: {
            operationId: 'uploadActivationCertificate',
            params: {},
            content: { type: bodyTypes.text[0], bytes: Buffer.from(certificates.value) },
          },
          done: 'The appliance accepted it.',
          undoCommand: `zlb-exporter admin ${calls.appliance} install-activation file=PATH --reason=TEXT, with the file that was installed before: the appliance does not give it out`,
        }),
        verifyActivatedStep(context),
        verifyExpiryStep(context, before),
      ],
    };
  },
};

interface InstalledActivation {
  /** Below 0 after the end; null when the appliance does not say. */
  readonly days: number | null;
  readonly type: string | null;
}

/**
 * Resolves to the installed certificate; undefined when there is none, or the appliance does not
 * say.
 */
async function readInstalled({ calls }: Pick<RecipeContext, 'calls'>): Promise<InstalledActivation | undefined> {
  try {
    const { days_to_expire: days, type } = (await calls.read('readActivationInfo', {})).params;
    return { days: days ?? null, type: type ?? null };
  } catch (error) {
    // Early releases have no such call, and a deactivated appliance may refuse it.
    if (error instanceof AdminError && (error.status === 404 || error.status === 402)) return undefined;
    throw error;
  }
}

async function readHostname(
  { calls }: Pick<RecipeContext, 'calls'>,
  edition: ApplianceEdition,
): Promise<string | undefined> {
  if (edition === 'deactivated') return undefined;
  return (await calls.read('readSystemVersion', {})).params.hostname ?? undefined;
}

/**
 * Compares whole days that were counted at two moments, so that a difference of one day means
 * nothing.
 */
function endsEarlier(days: number, before: InstalledActivation): boolean {
  return before.days !== null && days < before.days - 1;
}

/** Returns the step that checks the activation with a call that a deactivated appliance refuses. */
function verifyActivatedStep({ calls }: RecipeContext): Step {
  return {
    title: 'See that it is activated',
    async run() {
      const { hostname } = (await calls.read('readSystemVersion', {})).params;
      return `${hostname ?? calls.appliance} is activated.`;
    },
  };
}

function verifyExpiryStep(context: RecipeContext, before: InstalledActivation | undefined): Step {
  return {
    title: before === undefined ? 'See that it lasts' : 'See that it lasts as long as the one before it',
    async run() {
      const present = await readInstalled(context);
      if (present === undefined) return 'This release does not tell how long it lasts.';
      const { days, type } = present;
      const found = `It is ${type ?? 'of an unknown kind'} and ${expiryText(days)}.`;
      if (days !== null && days < 0 && type === 'temporal')
        throw badActivation('The certificate on the appliance is over', found);
      if (days !== null && before !== undefined && endsEarlier(days, before))
        throw badActivation(
          `The certificate on the appliance ends before the one it replaced, which ${expiryText(before.days)}`,
          found,
        );
      return found;
    },
  };
}

function expiryText(days: number | null): string {
  if (days === null) return 'does not say when it ends';
  const whole = Math.floor(Math.abs(days));
  const span = whole === 0 ? 'less than a day' : plural(whole, 'day');
  return days < 0 ? `ended ${span} ago` : `ends in ${span}`;
}

function badActivation(title: string, detail: string): AdminError {
  return new AdminError(title, {
    detail,
    remedy:
      'Get one that is valid for this appliance and install it the same way, before the appliance is deactivated.',
  });
}

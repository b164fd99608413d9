import { dateToSeconds } from '../../appliance/text-date.ts';
import { dayOf } from '../../lib/time.ts';
import { lifeOf } from '../../lib/chain.ts';
import { planReplacement } from './delivery.ts';
import { addressPhrase } from './farm.ts';
import type { Recipe } from './recipe.ts';
import { readNewCertificate } from './new-certificate.ts';

/** The delivery to one farm, of a certificate that may be for other names. */
export const replaceCertificate: Recipe = {
  name: 'replace-certificate',
  about: "put a new certificate in the place of a farm's, and restart the farm",
  parameters: { farm: 'required', old: 'optional', incomplete_chain: 'optional' },
  files: { file: { isRequired: true, sendsKey: true } },
  async plan(context) {
    const { params, files, now } = context;
    const { farm: farmname = '', old: wanted } = params;
    const pem = { path: 'file', text: files.file ?? '' };
    const newCertificate = readNewCertificate(pem, pem, {
      nowMs: now(),
      isIncompleteAllowed: params.incomplete_chain === 'true',
    });
    const { delivery, listed } = await planReplacement(context, newCertificate, { farmname, wanted });
    const { farm, replaces, steps } = delivery;
    const { names, x509 } = newCertificate;
    const { startsAtMs, endsAtMs } = lifeOf(x509);
    const { CN: oldName, expiration: oldEnd } = listed ?? {};
    const oldEndSeconds = dateToSeconds(oldEnd ?? '');
    const isGood = !oldName || names.includes(oldName) || x509.checkHost(oldName) !== undefined;
    return {
      facts: [
        `The file is for ${names.join(', ')}, from ${dayOf(startsAtMs)} to ${dayOf(endsAtMs)}; key and certificate match.`,
        `${farmname}${addressPhrase(farm)} is ${farm.state} and shows ${replaces} (${oldName ?? '-'}, until ${oldEnd ?? '-'}), which stays in the store.`,
        ...(oldEndSeconds !== undefined && endsAtMs < oldEndSeconds * 1_000
          ? [`Note: the new certificate ends on ${dayOf(endsAtMs)}, before the old one.`]
          : []),
        ...(isGood ? [] : [`Note: the new certificate is not good for ${oldName}, the name of the old one.`]),
      ],
      steps,
    };
  },
};

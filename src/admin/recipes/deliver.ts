import type { X509Certificate } from 'node:crypto';
import { namesOf } from '../../lib/pem.ts';
import { globMatcher, shellWord } from '../../lib/text.ts';
import { dayOf } from '../../lib/time.ts';
import { lifeOf } from '../../lib/chain.ts';
import { refusal } from '../policy/admin-error.ts';
import { newestFor, type CertificatesFolder } from './certificates-folder.ts';
import { type FarmDelivery, planDelivery } from './delivery.ts';
import { type SkippedCertificate, keyTypeOf } from './previous-certificate.ts';
import type { RecipePlan, Recipe, RecipeContext, Step, DeliveryTarget } from './recipe.ts';
import { type NewCertificate, readNewCertificate } from './new-certificate.ts';
import { checkActive } from './active-certificate.ts';
import { readStored } from './calls.ts';

/**
 * Creates the recipe that replaces a certificate on each farm that uses it. The caller sends the new
 * one with its key, or the gateway finds both in its folder. The plan that is made at an approval has
 * a digest over the same key, or is refused.
 */
export function createDeliver(folder: CertificatesFolder | undefined): Recipe {
  return {
    name: 'deliver',
    about: 'replace a certificate by a renewed one on each farm that uses it',
    parameters: {
      farm: 'optional',
      replaces: 'optional',
      covered: 'optional',
      fewer_names: 'optional',
      change_key_type: 'optional',
      incomplete_chain: 'optional',
      ...(folder !== undefined && { certificate: 'optional' as const }),
    },
    files: { cert: { isRequired: false, sendsKey: false }, key: { isRequired: false, sendsKey: true } },
    async plan(context) {
      const { params, files } = context;
      const { cert, key } = files;
      if (cert !== undefined && key !== undefined) return await planSentFiles(context, { cert, key });
      if (folder !== undefined && params.certificate !== undefined && cert === key)
        return await planFromFolder(context, folder, params.certificate);
      throw refusal(
        'deliver needs the files cert and key',
        'Send the certificate with its intermediates, and its key.',
      );
    },
  };
}

async function planSentFiles(
  context: RecipeContext,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<RecipePlan> {
  const { params, now } = context;
  const options = { nowMs: now(), isIncompleteAllowed: params.incomplete_chain === 'true' };
  const newCertificate = readNewCertificate({ path: 'cert', text: cert }, { path: 'key', text: key }, options);
  const { deliveries, skipped } = await planDelivery(context, newCertificate, {
    replaces: params.replaces,
    fewerNames: params.fewer_names === 'true',
    changeKeyType: params.change_key_type === 'true',
    alsoCovered: params.covered === 'true',
    isWanted: globMatcher(params.farm ?? '*'),
  });
  const targets: DeliveryTarget[] = skipped.map((each) => skippedTarget(each, keyTypeOf(newCertificate.x509)));
  for (const delivery of deliveries) targets.push(await targetOf(context, newCertificate, delivery));
  return {
    facts: [
      `${newCertificate.file} is for ${newCertificate.names.join(', ')} and ends on ${endOf(newCertificate.x509)}.`,
      ...targets.map(({ farm, result, detail }) => `${farm}: ${result}${detail === '' ? '' : ` (${detail})`}.`),
      ...(targets.length === 0
        ? [`No farm has a certificate for ${params.replaces ?? newCertificate.names.join(', ')}.`]
        : []),
    ],
    steps: deliveries.flatMap((delivery) => deliverySteps(context, newCertificate, delivery)),
    targets,
  };
}

async function targetOf(
  context: RecipeContext,
  newCertificate: NewCertificate,
  { farm, replaces, steps }: FarmDelivery,
): Promise<DeliveryTarget> {
  const { name } = farm;
  if (steps.length > 0) {
    const detail = replaces === undefined ? 'by a restart' : `in the place of ${replaces}`;
    return { farm: name, result: 'would be delivered', detail, ...(replaces !== undefined && { replaces }) };
  }
  const { servesOld, detail } = await checkActive(context, farm, newCertificate);
  return { farm: name, result: 'has it already', detail, ...(servesOld && { serves_old: true }) };
}

function skippedTarget({ farm, file, keyType, names, lost }: SkippedCertificate, given: string): DeliveryTarget {
  if (keyType !== undefined) {
    const detail = `the key of ${file} is ${keyType}, and the key of the new certificate is ${given}`;
    return { farm, result: 'other key type', detail };
  }
  const isCovered = lost.length === 0;
  const detail = isCovered
    ? `${file} is for ${names.join(', ')} alone, and may have a renewal of its own. To replace it: ${shellWord(`--replaces=${file}`)}`
    : `the certificate does not cover ${lost.join(', ')}, which ${file} of ${farm} covers. Renew it with all names. To deliver it nevertheless: ${shellWord(`--replaces=${file}`)} --force --reason=TEXT`;
  return { farm, result: 'other names', detail, ...(isCovered && { covers: names }), replaces: file };
}

/** Plans the delivery of the certificate of the folder that replaces a file of the store. */
async function planFromFolder(context: RecipeContext, folder: CertificatesFolder, file: string): Promise<RecipePlan> {
  const old = await readStored(context, file);
  if (!old) throw refusal(`${file} cannot be read on ${context.calls.appliance}`, 'Look at it in its store.');
  const { path, newCertificate } = await newestFor(old, file, folder, context.now());
  const wanted = { replaces: file, fewerNames: false, changeKeyType: false, isWanted: () => true };
  const { deliveries } = await planDelivery(context, newCertificate, wanted);
  const pending = deliveries.filter(({ steps }) => steps.length > 0);
  if (pending.length === 0) throw refusal(`No farm presents ${file}`, 'There is nothing to deliver.');
  return {
    facts: [
      `${file} is for ${namesOf(old).join(', ')} and ends on ${endOf(old)}.`,
      `${path} is for ${newCertificate.names.join(', ')} and ends on ${endOf(newCertificate.x509)}.`,
      `Farms that get it: ${pending.map(({ farm }) => farm.name).join(', ')}. ${file} stays in the store; ZlbUnusedCertificateExpiry fires until it is deleted.`,
    ],
    steps: pending.flatMap((delivery) => deliverySteps(context, newCertificate, delivery)),
  };
}

/** Returns the steps for a farm, and a look at what it serves then. */
function deliverySteps(
  context: RecipeContext,
  newCertificate: NewCertificate,
  { farm, steps }: FarmDelivery,
): readonly Step[] {
  if (steps.length === 0 || !context.probesAllFarms) return steps;
  const look: Step = {
    title: `See what ${farm.name} serves`,
    // Not a failure yet: until all have it, another node of a cluster may serve the old one.
    run: async () => `${farm.name}: ${(await checkActive(context, farm, newCertificate)).detail}`,
  };
  return [...steps, look];
}

function endOf(certificate: X509Certificate): string {
  return dayOf(lifeOf(certificate).endsAtMs);
}

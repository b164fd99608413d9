import type { X509Certificate } from 'node:crypto';
import { namesOf } from '../../lib/pem.ts';
import { globMatcher } from '../../lib/text.ts';
import { dayOf } from '../../lib/time.ts';
import { lifeOf } from '../../lib/chain.ts';
import { refusal } from '../policy/admin-error.ts';
import { newestFor, type RenewedFolder } from './certificates-folder.ts';
import { type FarmDelivery, planDelivery } from './delivery.ts';
import { type Kept, keyTypeOf } from './predecessor.ts';
import type { Plan, Recipe, RecipeContext, Step, DeliveryTarget } from './recipe.ts';
import { type Renewed, renewedFrom } from './renewed.ts';
import { lookAtServed } from './served.ts';
import { readStored } from './store.ts';

/**
 * Creates the recipe that brings a renewed certificate to the farms that use its predecessor. The
 * caller sends it with its key; a gateway with a folder of renewed certificates finds it there. The
 * plan that is made at an approval has a digest over the same key, or is refused.
 */
export function createDeliver(folder: RenewedFolder | undefined): Recipe {
  return {
    name: 'deliver',
    about: 'bring a renewed certificate to the farms that use its predecessor',
    parameters: {
      farm: false,
      replaces: false,
      covered: false,
      fewer_names: false,
      change_key_type: false,
      incomplete_chain: false,
      ...(folder !== undefined && { certificate: false }),
    },
    files: { cert: { isRequired: false, hasKey: false }, key: { isRequired: false, hasKey: true } },
    async plan(context) {
      const { values, files } = context;
      const { cert, key } = files;
      if (cert !== undefined && key !== undefined) return await planSent(context, { cert, key });
      if (folder !== undefined && values.certificate !== undefined && cert === key)
        return await planRenewed(context, folder, values.certificate);
      throw refusal(
        'deliver needs the files cert and key',
        'Send the certificate with its intermediates, and its key.',
      );
    },
  };
}

/** Plans the delivery of a certificate that the caller has sent. */
async function planSent(
  context: RecipeContext,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<Plan> {
  const { values, now } = context;
  const options = { nowMs: now(), mayLack: values.incomplete_chain === 'true' };
  const renewed = renewedFrom({ path: 'cert', text: cert }, { path: 'key', text: key }, options);
  const { deliveries, kept } = await planDelivery(context, renewed, {
    replaces: values.replaces,
    fewerNames: values.fewer_names === 'true',
    changeKeyType: values.change_key_type === 'true',
    alsoCovered: values.covered === 'true',
    wants: globMatcher(values.farm ?? '*'),
  });
  const targets: DeliveryTarget[] = kept.map((each) => keptTarget(each, keyTypeOf(renewed.certificate)));
  for (const delivery of deliveries) targets.push(await targetOf(context, renewed, delivery));
  return {
    facts: [
      `${renewed.file} is for ${renewed.names.join(', ')} and ends on ${endOf(renewed.certificate)}.`,
      ...targets.map(({ farm, result, detail }) => `${farm}: ${result}${detail === '' ? '' : ` (${detail})`}.`),
      ...(targets.length === 0
        ? [`No farm has a certificate for ${values.replaces ?? renewed.names.join(', ')}.`]
        : []),
    ],
    steps: deliveries.flatMap((delivery) => stepsOf(context, renewed, delivery)),
    targets,
  };
}

async function targetOf(
  context: RecipeContext,
  renewed: Renewed,
  { farm, replaces, steps }: FarmDelivery,
): Promise<DeliveryTarget> {
  const { name } = farm;
  if (steps.length > 0) {
    const detail = replaces === undefined ? 'by a restart' : `in the place of ${replaces}`;
    return { farm: name, result: 'would be delivered', detail, ...(replaces !== undefined && { replaces }) };
  }
  const { servesOld, detail } = await lookAtServed(context, farm, renewed);
  return { farm: name, result: 'has it already', detail, ...(servesOld && { serves_old: true }) };
}

function keptTarget({ farm, file, keyType, names, lost }: Kept, given: string): DeliveryTarget {
  if (keyType !== undefined) {
    const detail = `the key of ${file} is ${keyType}, and the key of the new certificate is ${given}`;
    return { farm, result: 'other key type', detail };
  }
  const isCovered = lost.length === 0;
  const detail = isCovered
    ? `${file} is for ${names.join(', ')} alone, and may have a renewal of its own. To replace it: --replaces=${file}`
    : `the certificate does not cover ${lost.join(', ')}, which ${file} of ${farm} covers. Renew it with all names. To deliver it nevertheless: --replaces=${file} --force --reason=TEXT`;
  return { farm, result: 'other names', detail, ...(isCovered && { covers: names }), replaces: file };
}

/** Plans the delivery of the certificate of the folder that replaces a file of the store. */
async function planRenewed(context: RecipeContext, folder: RenewedFolder, file: string): Promise<Plan> {
  const old = await readStored(context, file);
  if (!old) throw refusal(`${file} cannot be read on ${context.calls.appliance}`, 'Look at it in its store.');
  const { path, renewed } = await newestFor(old, file, folder, context.now());
  const wanted = { replaces: file, fewerNames: false, changeKeyType: false, wants: () => true };
  const { deliveries } = await planDelivery(context, renewed, wanted);
  const pending = deliveries.filter(({ steps }) => steps.length > 0);
  if (pending.length === 0) throw refusal(`No farm presents ${file}`, 'There is nothing to deliver.');
  return {
    facts: [
      `${file} is for ${namesOf(old).join(', ')} and ends on ${endOf(old)}.`,
      `${path} is for ${renewed.names.join(', ')} and ends on ${endOf(renewed.certificate)}.`,
      `Farms that get it: ${pending.map(({ farm }) => farm.name).join(', ')}. ${file} stays in the store; ZlbUnusedCertificateExpiry fires until it is deleted.`,
    ],
    steps: pending.flatMap((delivery) => stepsOf(context, renewed, delivery)),
  };
}

/** Returns the steps for a farm, and a look at what it serves then. */
function stepsOf(context: RecipeContext, renewed: Renewed, { farm, steps }: FarmDelivery): readonly Step[] {
  if (steps.length === 0 || !context.reach) return steps;
  const look: Step = {
    title: `See what ${farm.name} serves`,
    // Not a failure yet: until all have it, another node of a cluster may serve the old one.
    run: async () => `${farm.name}: ${(await lookAtServed(context, farm, renewed)).detail}`,
  };
  return [...steps, look];
}

function endOf(certificate: X509Certificate): string {
  return dayOf(lifeOf(certificate).endsAtMs);
}

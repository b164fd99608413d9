import type { X509Certificate } from 'node:crypto';
import { farmOf, type KnownFarm } from '../../appliance/farm.ts';
import { safeFarmName } from '../../appliance/safe-farm-name.ts';
import { memoize, shellWord } from '../../lib/text.ts';
import { refusal } from '../policy/admin-error.ts';
import { certificateSteps, farmCertificates, assertSameStored, verifyShownStep } from './certificate-steps.ts';
import { readEdition, readStored } from './calls.ts';
import { rereadFarm, assertNotSilent } from './farm.ts';
import { type DeliveryOptions, type SkippedCertificate, findPrevious, type StoreRow } from './previous-certificate.ts';
import { withRollback } from './rollback.ts';
import type { RecipeContext, Step } from './recipe.ts';
import type { NewCertificate } from './new-certificate.ts';
import { type FarmReading, readState, restartSteps, withBackends } from './restart-farm.ts';

/** The steps for a farm that uses the new certificate, or the one that it replaces. */
export interface FarmDelivery {
  readonly farm: FarmReading;
  /** The file that goes; undefined when the farm has the new certificate, and not the old one. */
  readonly replaces: string | undefined;
  /** Empty when nothing is to be done. */
  readonly steps: readonly Step[];
}

/** The store of an appliance, and how its edition replaces a certificate. */
interface Store {
  readonly stored: readonly StoreRow[];
  readonly read: (file: string) => Promise<X509Certificate | undefined>;
  readonly keepsBoth: boolean;
  /** True if it has the new certificate by the time of the next step. */
  isStored: boolean;
}

/**
 * Finds the farms whose certificate the new one replaces, and plans their steps. Only reads. Rejects
 * with an AdminError if the certificate must not replace another.
 */
export async function planDelivery(
  context: RecipeContext,
  newCertificate: NewCertificate,
  options: DeliveryOptions,
): Promise<{ readonly deliveries: readonly FarmDelivery[]; readonly skipped: readonly SkippedCertificate[] }> {
  const farms = await farmsWithCertificates(context, options.isWanted);
  if (farms.length === 0) return { deliveries: [], skipped: [] };
  const store = await storeFor(context, newCertificate);
  const deliveries: FarmDelivery[] = [];
  const skipped: SkippedCertificate[] = [];
  for (const listed of farms) {
    const { certificates: used = [] } = listed;
    const found = await findPrevious(context, { farmname: listed.name, used, ...store, newCertificate, options });
    const isAttached = used.includes(newCertificate.file);
    if (!isAttached) skipped.push(...found.skipped);
    if (found.old === undefined && !isAttached) continue;
    const farm = await withBackends(context, await rereadFarm(context, listed));
    deliveries.push(deliveryTo(context, { farm, used, old: found.old, store, newCertificate }));
  }
  return { deliveries, skipped };
}

/**
 * Plans the replacement of one certificate of a farm, whatever its names are. Only reads. Rejects
 * with an AdminError if the farm has it already, or no such certificate.
 */
export async function planReplacement(
  context: RecipeContext,
  newCertificate: NewCertificate,
  { farmname, wanted }: { readonly farmname: string; readonly wanted: string | undefined },
): Promise<{ readonly delivery: FarmDelivery; readonly listed: StoreRow | undefined }> {
  const farm = await readState(context, farmname);
  if (farm.profile !== 'https')
    throw refusal(`${farmname} does not speak HTTPS`, 'Only HTTPS farms have certificates.');
  assertNotSilent(context.calls, farm);
  const used = await farmCertificates(context, farmname);
  const others = used.filter((file) => file !== newCertificate.file);
  const [old] = wanted === undefined ? others : others.filter((file) => file === wanted);
  if (old === undefined)
    throw wanted === undefined || wanted === newCertificate.file
      ? refusal(`${farmname} has ${newCertificate.file} already`, 'Nothing is to be replaced.')
      : refusal(`${farmname} has no certificate ${wanted}`, `It has ${used.join(', ') || 'none'}.`);
  if (wanted === undefined && others.length > 1)
    throw refusal(
      `${farmname} has ${others.length} certificates`,
      `Say which one to replace: ${others.map((file) => shellWord(`old=${file}`)).join(', or ')}.`,
    );
  const store = await storeFor(context, newCertificate);
  const listed = store.stored.find(({ file }) => file === old);
  return { delivery: deliveryTo(context, { farm, used, old, store, newCertificate }), listed };
}

async function storeFor(context: RecipeContext, newCertificate: NewCertificate): Promise<Store> {
  const { params: stored } = await context.calls.read('listCertificates', {});
  const isStored = stored.some(({ file }) => file === newCertificate.file);
  if (isStored) await assertSameStored(context, newCertificate);
  return {
    stored,
    read: memoize((file) => readStored(context, file)),
    keepsBoth: (await readEdition(context)) !== 'community',
    isStored,
  };
}

interface TargetFarm {
  readonly farm: FarmReading;
  readonly used: readonly string[];
  readonly old: string | undefined;
  readonly store: Store;
  readonly newCertificate: NewCertificate;
}

function deliveryTo(context: RecipeContext, { farm, used, old, store, newCertificate }: TargetFarm): FarmDelivery {
  if (old === undefined) return { farm, replaces: old, steps: needsRestart(farm) ? restart(context, farm) : [] };
  const { name: farmname } = farm;
  const isAttached = used.includes(newCertificate.file);
  const replacement = {
    farmname,
    newCertificate,
    isStored: store.isStored,
    old,
    position: used.filter((file) => file !== newCertificate.file).indexOf(old),
    count: used.length - Number(isAttached),
    keepsBoth: store.keepsBoth,
    isAttached,
  };
  store.isStored = true;
  const steps = [
    ...certificateSteps(context, replacement),
    ...(farm.state === 'down' ? [] : restart(context, farm)),
    verifyShownStep(context, replacement),
  ];
  return { farm, replaces: old, steps: withRollback(steps, { farm, replacement, files: used }) };
}

/**
 * Lists the farms that have certificates, with calls that wait for no other farm's proxy: a list of
 * all would wait for each one that hangs. Such a farm has what the exporter read of it last.
 */
async function farmsWithCertificates(
  { calls, knownFarms }: RecipeContext,
  isWanted: DeliveryOptions['isWanted'],
): Promise<readonly KnownFarm[]> {
  const { lslb } = (await calls.read('readFarmsSummary', {})).params;
  const known = new Map((knownFarms() ?? []).map((farm) => [farm.name, farm]));
  const found: KnownFarm[] = [];
  for (const { name, profile } of lslb ?? []) {
    const farmname = safeFarmName(name, profile);
    const last = known.get(name);
    if (!farmname || !isWanted(name) || last?.profile === 'http') continue;
    if (last?.isSilent && last.certificates) {
      found.push({ ...last, profile: 'https' });
      continue;
    }
    const { listener, certlist, vip, vport } = (await calls.read('readFarm', { farmname })).params;
    if (listener && listener !== 'https') continue;
    const certificates = (certlist ?? []).flatMap(({ file }) => file ?? []);
    const row = { farmname: name, profile: 'https', vip: vip ?? null, vport: vport ?? null };
    if (certificates.length > 0) found.push({ ...farmOf(row), certificates });
  }
  return found;
}

function needsRestart({ state }: FarmReading): boolean {
  return state === 'needed_restart';
}

/** Returns the steps of a restart that is made only if the appliance asks for it. */
function restart(context: RecipeContext, before: FarmReading): readonly Step[] {
  const [first, ...others] = restartSteps(context, before);
  if (!first) return [];
  return [
    {
      ...first,
      title: `${first.title}, if the appliance asks for it`,
      async run(send, calls) {
        return needsRestart(await readState(context, before.name))
          ? await first.run(send, calls)
          : `${before.name} needs no restart.`;
      },
    },
    ...others,
  ];
}

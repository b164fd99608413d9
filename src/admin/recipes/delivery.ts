import type { X509Certificate } from 'node:crypto';
import type { ReplyOf } from '../../appliance/client.ts';
import { unlessL4 } from '../../appliance/harmless.ts';
import { commonNameOf, namesLost, namesOf, shownNameOf } from '../../lib/pem.ts';
import { remembered } from '../../lib/text.ts';
import { dayOf } from '../../lib/time.ts';
import { cannot } from '../policy/admin-error.ts';
import { certificateSteps, verifyShown } from './certificate-steps.ts';
import { readEdition } from './edition.ts';
import { addressOf, type FarmSummary, harmlessFarm, readAgain } from './farm.ts';
import { withWayBack } from './put-back.ts';
import type { RecipeContext, Step } from './recipe.ts';
import type { Renewed } from './renewed.ts';
import { type FarmState, readState, restartSteps, withBackends } from './restart-farm.ts';
import { readStored } from './store.ts';

/** The steps for a farm that uses the certificate or its predecessor. */
export interface FarmDelivery {
  readonly farm: FarmState;
  /** The file that goes; undefined when the farm has the new certificate, and not the old one. */
  readonly replaces: string | undefined;
  /** Empty when nothing is to be done. */
  readonly steps: readonly Step[];
}

/** A certificate of a farm that stays, though it has the name or names of the new one. */
export interface Kept {
  readonly farm: string;
  readonly file: string;
  /** Its names, and those of them that the new one does not cover. */
  readonly names: readonly string[];
  readonly lost: readonly string[];
  /** Its key type, if that is the reason. */
  readonly keyType?: string;
}

export interface DeliveryOptions {
  /** A file in the store or a common name, where the predecessor has another name. */
  readonly replaces: string | undefined;
  /** True to deliver a certificate for fewer names than the one in place. */
  readonly fewerNames: boolean;
  /**
   * True to replace each certificate whose names the new one covers, also of another common name:
   * `*.example.com` then replaces `www.example.com`.
   */
  readonly alsoCovered?: boolean;
  /** True to replace a certificate whose key has another type. */
  readonly changeKeyType: boolean;
  /** Returns true for the farms that the caller named. */
  readonly wants: (farm: string) => boolean;
}

type Stored = ReplyOf<'listCertificates'>['params'][number];

/** The store of an appliance, and how its edition replaces a certificate. */
interface Store {
  readonly stored: readonly Stored[];
  readonly read: (file: string) => Promise<X509Certificate | undefined>;
  readonly keepsBoth: boolean;
  /** True if it has the new certificate by the time of the next step. */
  isStored: boolean;
}

/**
 * Finds the farms of an appliance that use the predecessor of a certificate, and plans their steps.
 * Only reads. Rejects with an AdminError when the certificate must not take the place of another.
 */
export async function planDelivery(
  context: RecipeContext,
  renewed: Renewed,
  options: DeliveryOptions,
): Promise<{ readonly deliveries: readonly FarmDelivery[]; readonly kept: readonly Kept[] }> {
  const farms = await farmsWithCertificates(context, options.wants);
  if (farms.length === 0) return { deliveries: [], kept: [] };
  const { params: stored } = await context.calls.read('listCertificates', {});
  const store: Store = {
    stored,
    read: remembered((file) => readStored(context, file)),
    keepsBoth: (await readEdition(context)) !== 'community',
    isStored: stored.some(({ file }) => file === renewed.file),
  };
  if (store.isStored) await refuseOther(context, renewed);
  const deliveries: FarmDelivery[] = [];
  const kept: Kept[] = [];
  for (const { farm: listed, used } of farms) {
    const found = await predecessorOf(context, { farmname: listed.name, used, ...store, renewed, options });
    const isAttached = used.includes(renewed.file);
    if (!isAttached) kept.push(...found.kept);
    if (found.old === undefined && !isAttached) continue;
    const farm = await withBackends(context, await readAgain(context, listed));
    deliveries.push(deliveryTo(context, { farm, used, old: found.old, store, renewed }));
  }
  return { deliveries, kept };
}

interface Addressee {
  readonly farm: FarmState;
  readonly used: readonly string[];
  readonly old: string | undefined;
  readonly store: Store;
  readonly renewed: Renewed;
}

/** Returns the steps for one farm. */
function deliveryTo(context: RecipeContext, { farm, used, old, store, renewed }: Addressee): FarmDelivery {
  if (old === undefined) return { farm, replaces: old, steps: isWaiting(farm) ? restart(context, farm) : [] };
  const { name: farmname } = farm;
  const isAttached = used.includes(renewed.file);
  const replacement = {
    farmname,
    file: renewed.file,
    bytes: store.isStored ? undefined : renewed.bytes,
    old,
    position: used.filter((file) => file !== renewed.file).indexOf(old),
    count: used.length - Number(isAttached),
    keepsBoth: store.keepsBoth,
    isAttached,
  };
  store.isStored = true;
  const steps = [
    ...certificateSteps(context, replacement).map((step) =>
      step.write?.key === 'uploadCertificate' ? compared(context, step, renewed) : step,
    ),
    ...(farm.status === 'down' ? [] : restart(context, farm)),
    verifyShown(context, replacement),
  ];
  return { farm, replaces: old, steps: withWayBack(steps, { farm, replacement, files: used }) };
}

interface HttpsFarm {
  readonly farm: FarmSummary;
  /** Files of its certificates, in their order. */
  readonly used: readonly string[];
}

/**
 * Lists the farms that have certificates, with calls that wait for no other farm's proxy: a list of
 * all would wait for each one that hangs. Such a farm has what the exporter read of it last.
 */
async function farmsWithCertificates(
  { calls, knownFarms }: RecipeContext,
  wants: DeliveryOptions['wants'],
): Promise<readonly HttpsFarm[]> {
  const { lslb } = (await calls.read('readFarmsSummary', {})).params;
  const known = new Map((knownFarms() ?? []).map((farm) => [farm.name, farm]));
  const found: HttpsFarm[] = [];
  for (const { name, profile } of lslb ?? []) {
    const farmname = unlessL4(name, profile);
    const last = known.get(name);
    if (!farmname || !wants(name) || last?.profile === 'http') continue;
    const summary = (vip: string | null | undefined, vport: string | null | undefined): FarmSummary => ({
      name,
      profile: 'https',
      status: '',
      address: addressOf(vip, vport),
    });
    if (last?.isSilent && last.certificates) {
      found.push({ farm: summary(last.vip, last.vport), used: last.certificates });
      continue;
    }
    const { listener, certlist, vip, vport } = (await calls.read('readFarm', { farmname })).params;
    if (listener && listener !== 'https') continue;
    const used = (certlist ?? []).flatMap(({ file }) => file ?? []);
    if (used.length > 0) found.push({ farm: summary(vip, vport), used });
  }
  return found;
}

interface Candidates {
  readonly farmname: string;
  readonly used: readonly string[];
  readonly stored: Store['stored'];
  readonly read: Store['read'];
  readonly renewed: Renewed;
  readonly options: DeliveryOptions;
}

interface Predecessor {
  /** The file that the new certificate replaces; undefined if it replaces none. */
  readonly old: string | undefined;
  readonly kept: readonly Kept[];
}

/** Resolves to the certificate of a farm that the new one replaces, or to those that stay. */
async function predecessorOf(context: RecipeContext, candidates: Candidates): Promise<Predecessor> {
  const { farmname, used, renewed, options } = candidates;
  const related = await relatedOn(candidates);
  const named = related.filter(({ isMeant }) => isMeant);
  const same = named.filter(({ old }) => keyTypeOf(old) === keyTypeOf(renewed.certificate));
  // A farm may have an RSA and an ECDSA certificate for a name: only one of them is replaced.
  const keepsOthers = same.length > 0 || used.includes(renewed.file);
  const replaced = keepsOthers ? same : named;
  const toKept = ({ file, old, lost }: Related): Kept => ({ farm: farmname, file, names: namesOf(old), lost });
  if (replaced.length === 0) return { old: undefined, kept: related.map(toKept) };
  const [other] = keepsOthers ? [] : replaced;
  if (other && !options.changeKeyType)
    return { old: undefined, kept: [{ ...toKept(other), keyType: keyTypeOf(other.old) }] };
  if (other && !options.fewerNames) await refuseOwnCiphers(context, farmname);
  for (const { file, old } of replaced) refuseWorse(farmname, file, { old, renewed, fewerNames: options.fewerNames });
  if (replaced.length > 1)
    throw cannot(
      `${farmname} has ${replaced.length} certificates for the same names: ${replaced.map(({ file }) => file).join(', ')}`,
      'Say which one goes: --replaces=FILE.',
    );
  return { old: replaced[0]?.file, kept: [] };
}

/** A certificate of a farm that shares a name with the new one. */
interface Related {
  readonly file: string;
  readonly old: X509Certificate;
  /** Its names that the new one does not cover. */
  readonly lost: readonly string[];
  /** True if the new one takes its place. */
  readonly isMeant: boolean;
}

/** Resolves to the certificates of a farm that may be the predecessor. */
async function relatedOn({ farmname, used, stored, read, renewed, options }: Candidates): Promise<readonly Related[]> {
  const related: Related[] = [];
  for (const { file, CN } of stored) {
    if (file === renewed.file || !used.includes(file)) continue;
    const old = await read(file);
    const isNamed = [file, CN ?? '', old ? shownNameOf(old) : ''].some(
      (each) => each !== undefined && isSameName(each, options.replaces ?? renewed.commonName),
    );
    if (old) related.push(...relationOf(file, { old, isNamed, renewed, options }));
    else if (isNamed)
      throw cannot(
        `${file} of ${farmname} cannot be read, and so not compared`,
        'Look at it with readCertificateInfo; the recipe replace-certificate does not compare.',
      );
  }
  return related;
}

interface Compared {
  readonly old: X509Certificate;
  /** True for the one that the caller named; for the name of the new one, if nothing was named. */
  readonly isNamed: boolean;
  readonly renewed: Renewed;
  readonly options: DeliveryOptions;
}

/**
 * Returns how a certificate is related to the new one, if it is: with the same names or the same
 * common name it is the predecessor, unless names would be lost. A farm that merely shares a name
 * may have a renewal of its own.
 */
function relationOf(file: string, { old, isNamed, renewed, options }: Compared): readonly Related[] {
  const names = namesOf(old);
  const lost = namesLost(old, renewed.certificate);
  if (options.replaces !== undefined) return isNamed ? [{ file, old, lost, isMeant: true }] : [];
  const hasCommonName = commonNameOf(renewed.certificate) !== undefined && commonNameOf(old) !== undefined;
  const isSame = (isNamed && hasCommonName) || areSameNames(names, renewed.names);
  if (!isSame && lost.length === names.length) return [];
  return [
    {
      file,
      old,
      lost,
      isMeant: lost.length === 0 ? isSame || options.alsoCovered === true : isSame && options.fewerNames,
    },
  ];
}

function areSameNames(some: readonly string[], others: readonly string[]): boolean {
  const sorted = (names: readonly string[]): string =>
    names
      .map((name) => name.toLowerCase())
      .toSorted()
      .join();
  return sorted(some) === sorted(others);
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Returns the type of a certificate's key, as ACME clients and openssl write it. */
export function keyTypeOf({ publicKey }: X509Certificate): string {
  const { asymmetricKeyType: type = 'unknown' } = publicKey;
  return type === 'ec' ? 'ECDSA' : type.toUpperCase();
}

/**
 * Rejects with an AdminError when a farm has its own list of ciphers: a list for RSA alone leaves
 * an ECDSA certificate no cipher, and the reverse.
 */
async function refuseOwnCiphers({ calls }: RecipeContext, farmname: string): Promise<void> {
  const { params } = await calls.read('readFarm', { farmname: await harmlessFarm({ calls }, farmname) });
  if (params.ciphers !== 'customsecurity') return;
  throw cannot(
    `${farmname} has its own list of ciphers, which may allow the old type of key only`,
    'See that cipherc of readFarm allows both types. To deliver it nevertheless: --force --reason=TEXT.',
  );
}

/** Rejects with an AdminError when the store has another certificate under the name of this one. */
async function refuseOther(context: RecipeContext, { file, certificate }: Renewed): Promise<void> {
  const stored = await readStored(context, file);
  if (stored?.fingerprint256 !== certificate.fingerprint256)
    throw cannot(`${file} in the store is another certificate`, 'Find out who put it there, and delete it.');
}

/** Uploads only what is not in the store by then, and compares what the store has afterwards. */
function compared(context: RecipeContext, upload: Step, renewed: Renewed): Step {
  return {
    ...upload,
    async run(send) {
      const { params } = await context.calls.read('listCertificates', {});
      const isThere = params.some(({ file }) => file === renewed.file);
      const done = isThere ? `${renewed.file} is in the store already.` : await upload.run(send);
      await refuseOther(context, renewed);
      return done;
    },
  };
}

function refuseWorse(
  farmname: string,
  file: string,
  {
    old,
    renewed,
    fewerNames,
  }: { readonly old: X509Certificate; readonly renewed: Renewed; readonly fewerNames: boolean },
): void {
  const { certificate } = renewed;
  if (certificate.validFromDate < old.validFromDate)
    throw cannot(
      `The certificate is older than ${file}, which ${farmname} has`,
      `It is valid from ${dayOf(certificate.validFromDate.getTime())}, ${file} from ${dayOf(old.validFromDate.getTime())}. Give the renewed files.`,
    );
  const lost = namesLost(old, certificate);
  if (lost.length > 0 && !fewerNames)
    throw cannot(
      `The certificate does not cover ${lost.join(', ')}, which ${file} of ${farmname} covers`,
      'Renew it with all names. To deliver it nevertheless: --force --reason=TEXT.',
    );
}

function isWaiting({ status }: FarmState): boolean {
  return status === 'needed restart';
}

/** Returns the steps of a restart that is made only if the appliance asks for it. */
function restart(context: RecipeContext, before: FarmState): readonly Step[] {
  const [first, ...others] = restartSteps(context, before);
  if (!first) return [];
  return [
    {
      ...first,
      title: `${first.title}, if the appliance asks for it`,
      async run(send) {
        return isWaiting(await readState(context, before.name))
          ? await first.run(send)
          : `${before.name} needs no restart.`;
      },
    },
    ...others,
  ];
}

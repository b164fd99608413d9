import { X509Certificate } from 'node:crypto';
import type { ReplyOf } from '../../appliance/client.ts';
import { namesLost, namesOf } from '../../lib/pem.ts';
import { dayOf } from '../../lib/time.ts';
import { cannot } from '../policy/admin-error.ts';
import { certificateSteps, farmCertificates, type Replacement, verifyShown } from './certificate-steps.ts';
import { readEdition } from './edition.ts';
import { summaryOf } from './farm.ts';
import type { RecipeContext, Step } from './recipe.ts';
import type { Renewed } from './renewed.ts';
import { type FarmState, readState, restartSteps, withBackends } from './restart-farm.ts';

/** The steps for a farm that uses the certificate or its predecessor. */
export interface FarmDelivery {
  readonly farm: FarmState;
  /** Undefined when the farm has the new certificate, and not the old one. */
  readonly replacement: Replacement | undefined;
  /** Empty when nothing is to be done. */
  readonly steps: readonly Step[];
}

/** A farm whose certificate for the name has a key of another type, and stays as it is. */
export interface OtherKey {
  readonly farm: string;
  readonly file: string;
  /** The key type of the farm's certificate. */
  readonly keyType: string;
}

export interface DeliveryOptions {
  /** A file in the store or a common name, where the predecessor has another name. */
  readonly replaces: string | undefined;
  /** True to deliver a certificate for fewer names than the one in place. */
  readonly force: boolean;
  /** True to replace a certificate whose key has another type. */
  readonly changeKeyType: boolean;
  /** Returns true for the farms that the caller named. */
  readonly wants: (farm: string) => boolean;
}

type Stored = ReplyOf<'listCertificates'>['params'][number];

/**
 * Finds the farms of an appliance that use the predecessor of a certificate, and plans their steps.
 * Only reads. Rejects with an AdminError when the certificate must not take the place of another.
 */
export async function planDelivery(
  context: RecipeContext,
  renewed: Renewed,
  options: DeliveryOptions,
): Promise<{ readonly deliveries: readonly FarmDelivery[]; readonly otherKeys: readonly OtherKey[] }> {
  const { params: farms } = await context.calls.read('listFarms', {});
  const https = farms.filter(({ profile, farmname }) => profile === 'https' && options.wants(farmname));
  if (https.length === 0) return { deliveries: [], otherKeys: [] };
  const { params: stored } = await context.calls.read('listCertificates', {});
  const keepsBoth = (await readEdition(context)) !== 'community';
  let isStored = stored.some(({ file }) => file === renewed.file);
  if (isStored) await refuseOther(context, renewed);
  const deliveries: FarmDelivery[] = [];
  const otherKeys: OtherKey[] = [];
  for (const row of https) {
    const { farmname } = row;
    const used = await farmCertificates(context, farmname);
    const found = await predecessorOf(context, { farmname, used, stored, renewed, options });
    const isAttached = used.includes(renewed.file);
    if (typeof found === 'object') otherKeys.push(found);
    const old = typeof found === 'string' ? found : undefined;
    if (old === undefined && !isAttached) continue;
    const farm = await withBackends(context, summaryOf(row));
    if (old === undefined) {
      deliveries.push({ farm, replacement: undefined, steps: isWaiting(farm) ? restart(context, farm) : [] });
      continue;
    }
    const replacement = {
      farmname,
      file: renewed.file,
      bytes: isStored ? undefined : renewed.bytes,
      old,
      position: used.filter((file) => file !== renewed.file).indexOf(old),
      count: used.length - Number(isAttached),
      keepsBoth,
      isAttached,
    };
    isStored = true;
    deliveries.push({
      farm,
      replacement,
      steps: [
        ...certificateSteps(context, replacement).map((step) =>
          step.write?.key === 'uploadCertificate' ? compared(context, step, renewed) : step,
        ),
        ...(farm.status === 'down' ? [] : restart(context, farm)),
        verifyShown(context, replacement),
      ],
    });
  }
  return { deliveries, otherKeys };
}

interface Candidates {
  readonly farmname: string;
  readonly used: readonly string[];
  readonly stored: readonly Stored[];
  readonly renewed: Renewed;
  readonly options: DeliveryOptions;
}

/**
 * Resolves to the file that the new certificate replaces on a farm, or to the one that it does not
 * replace because of its key; undefined when the farm has neither.
 */
async function predecessorOf(context: RecipeContext, candidates: Candidates): Promise<string | OtherKey | undefined> {
  const { farmname, used, renewed, options } = candidates;
  const named = await namedOn(context, candidates);
  const same = named.filter(({ old }) => keyTypeOf(old) === keyTypeOf(renewed.certificate));
  // A farm may have an RSA and an ECDSA certificate for a name: only one of them is replaced.
  const keepsOthers = same.length > 0 || used.includes(renewed.file);
  const [other] = keepsOthers ? [] : named;
  if (other && !options.changeKeyType) return { farm: farmname, file: other.file, keyType: keyTypeOf(other.old) };
  if (other && !options.force) await refuseOwnCiphers(context, farmname);
  const replaced = keepsOthers ? same : named;
  for (const { file, old } of replaced) refuseWorse(farmname, file, { old, renewed, force: options.force });
  if (replaced.length > 1)
    throw cannot(
      `${farmname} has ${replaced.length} certificates for ${wantedName(candidates)}: ${replaced.map(({ file }) => file).join(', ')}`,
      'Say which one goes: --replaces=FILE.',
    );
  return replaced[0]?.file;
}

function wantedName({ options, renewed }: Candidates): string {
  return options.replaces ?? renewed.commonName;
}

/** Resolves to the certificates of a farm that have the name of the predecessor. */
async function namedOn(
  context: RecipeContext,
  candidates: Candidates,
): Promise<readonly { readonly file: string; readonly old: X509Certificate }[]> {
  const { farmname, used, stored, renewed, options } = candidates;
  const wanted = wantedName(candidates);
  const named: { readonly file: string; readonly old: X509Certificate }[] = [];
  for (const { file, CN } of stored) {
    const isNamed = CN?.toLowerCase() === wanted.toLowerCase() || file === options.replaces;
    // Certificates of newer profiles have alternative names only.
    if (file === renewed.file || !used.includes(file) || !(isNamed || CN === 'no CN')) continue;
    const old = await readStored(context, file);
    if (!isNamed && (!old || namesOf(old)[0] !== wanted)) continue;
    if (!old)
      throw cannot(
        `${file} of ${farmname} cannot be read, and so not compared`,
        'Look at it with readCertificateInfo; the recipe replace-certificate does not compare.',
      );
    named.push({ file, old });
  }
  return named;
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
  const { params } = await calls.read('readFarm', { farmname });
  if (params.ciphers !== 'customsecurity') return;
  throw cannot(
    `${farmname} has its own list of ciphers, which may allow the old type of key only`,
    'See that cipherc of readFarm allows both types. To deliver it nevertheless: --force --reason=TEXT.',
  );
}

/** Longer text is none of a certificate. */
const maxInfoLength = 1_048_576;
const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/**
 * Resolves to a certificate of the store, whose text form ends with it in PEM (docs/api.md §3.11);
 * undefined when the text has none.
 */
export async function readStored(
  { calls }: Pick<RecipeContext, 'calls'>,
  file: string,
): Promise<X509Certificate | undefined> {
  const text = (await calls.readText('readCertificateInfo', { file })).slice(0, maxInfoLength);
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) return undefined;
  try {
    return new X509Certificate(text.slice(from, to + end.length));
  } catch {
    return undefined;
  }
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
  { old, renewed, force }: { readonly old: X509Certificate; readonly renewed: Renewed; readonly force: boolean },
): void {
  const { certificate } = renewed;
  if (certificate.validFromDate < old.validFromDate)
    throw cannot(
      `The certificate is older than ${file}, which ${farmname} has`,
      `It is valid from ${dayOf(certificate.validFromDate.getTime())}, ${file} from ${dayOf(old.validFromDate.getTime())}. Give the renewed files.`,
    );
  const lost = namesLost(old, certificate);
  if (lost.length > 0 && !force)
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

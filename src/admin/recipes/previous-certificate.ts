import type { X509Certificate } from 'node:crypto';
import type { ReplyOf } from '../../appliance/client.ts';
import { commonNameOf, namesLost, namesOf, shownNameOf } from '../../lib/pem.ts';
import { dayOf } from '../../lib/time.ts';
import { lifeOf } from '../../lib/chain.ts';
import { refusal } from '../policy/admin-error.ts';
import { safeFarm } from './farm.ts';
import type { RecipeContext } from './recipe.ts';
import type { NewCertificate } from './new-certificate.ts';

export type StoreRow = ReplyOf<'listCertificates'>['params'][number];

/** A certificate that the new one does not replace, although they share names. */
export interface SkippedCertificate {
  readonly farm: string;
  readonly file: string;
  /** Its names, and those of them that the new one does not cover. */
  readonly names: readonly string[];
  readonly lost: readonly string[];
  /** Its key type, if that is the reason. */
  readonly keyType?: string;
}

export interface DeliveryOptions {
  /** The file or the common name of the certificate to replace, if the common name has changed. */
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
  readonly isWanted: (farm: string) => boolean;
}

interface FarmCertificates {
  readonly farmname: string;
  /** Their files. */
  readonly used: readonly string[];
  readonly stored: readonly StoreRow[];
  readonly read: (file: string) => Promise<X509Certificate | undefined>;
  readonly newCertificate: NewCertificate;
  readonly options: DeliveryOptions;
}

interface PreviousCertificate {
  /** The file that the new certificate replaces; undefined if it replaces none. */
  readonly old: string | undefined;
  readonly skipped: readonly SkippedCertificate[];
}

/** Finds the certificate of a farm that the new one replaces, or those that it does not replace. */
export async function findPrevious(context: RecipeContext, candidates: FarmCertificates): Promise<PreviousCertificate> {
  const { farmname, used, newCertificate, options } = candidates;
  const related = await relatedCertificates(candidates);
  const named = related.filter(({ isReplaced }) => isReplaced);
  const same = named.filter(({ old }) => keyTypeOf(old) === keyTypeOf(newCertificate.x509));
  // A farm may have an RSA and an ECDSA certificate for a name: only one of them is replaced.
  const keepsOthers = same.length > 0 || used.includes(newCertificate.file);
  const replaced = keepsOthers ? same : named;
  const toSkipped = ({ file, old, lost }: Related): SkippedCertificate => ({
    farm: farmname,
    file,
    names: namesOf(old),
    lost,
  });
  if (replaced.length === 0) return { old: undefined, skipped: related.map(toSkipped) };
  const [other] = keepsOthers ? [] : replaced;
  if (other && !options.changeKeyType)
    return { old: undefined, skipped: [{ ...toSkipped(other), keyType: keyTypeOf(other.old) }] };
  if (other && !options.fewerNames) await assertNoOwnCiphers(context, farmname);
  for (const { file, old } of replaced)
    assertNotWorse(farmname, file, { old, newCertificate, fewerNames: options.fewerNames });
  if (replaced.length > 1)
    throw refusal(
      `${farmname} has ${replaced.length} certificates for the same names: ${replaced.map(({ file }) => file).join(', ')}`,
      'Say which one to replace: --replaces=FILE.',
    );
  return { old: replaced[0]?.file, skipped: [] };
}

/** A certificate of a farm that shares a name with the new one. */
interface Related {
  readonly file: string;
  readonly old: X509Certificate;
  /** Its names that the new one does not cover. */
  readonly lost: readonly string[];
  readonly isReplaced: boolean;
}

async function relatedCertificates({
  farmname,
  used,
  stored,
  read,
  newCertificate,
  options,
}: FarmCertificates): Promise<readonly Related[]> {
  const related: Related[] = [];
  for (const { file, CN } of stored) {
    if (file === newCertificate.file || !used.includes(file)) continue;
    const old = await read(file);
    const isNamed = [file, CN ?? '', old ? shownNameOf(old) : ''].some(
      (each) => each !== undefined && isSameName(each, options.replaces ?? newCertificate.commonName),
    );
    if (old) related.push(...relationOf(file, { old, isNamed, newCertificate, options }));
    else if (isNamed)
      throw refusal(
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
  readonly newCertificate: NewCertificate;
  readonly options: DeliveryOptions;
}

/**
 * Returns how a certificate is related to the new one, if it is. One with the same names, or the
 * same common name, is replaced unless names would be lost. One that merely shares a name may be
 * renewed separately.
 */
function relationOf(file: string, { old, isNamed, newCertificate, options }: Compared): readonly Related[] {
  const names = namesOf(old);
  const lost = namesLost(old, newCertificate.x509);
  if (options.replaces !== undefined) return isNamed ? [{ file, old, lost, isReplaced: true }] : [];
  const hasCommonName = commonNameOf(newCertificate.x509) !== undefined && commonNameOf(old) !== undefined;
  const isSame = (isNamed && hasCommonName) || areSameNames(names, newCertificate.names);
  if (!isSame && lost.length === names.length) return [];
  return [
    {
      file,
      old,
      lost,
      isReplaced: lost.length === 0 ? isSame || options.alsoCovered === true : isSame && options.fewerNames,
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
 * Rejects with an AdminError when a farm has its own list of ciphers: a list for only RSA leaves
 * an ECDSA certificate no cipher, and the reverse.
 */
async function assertNoOwnCiphers({ calls }: RecipeContext, farmname: string): Promise<void> {
  const { params } = await calls.read('readFarm', { farmname: await safeFarm({ calls }, farmname) });
  if (params.ciphers !== 'customsecurity') return;
  throw refusal(
    `${farmname} has its own list of ciphers, which may allow the old type of key only`,
    'See that cipherc of readFarm allows both types. To deliver it nevertheless: --force --reason=TEXT.',
  );
}

function assertNotWorse(
  farmname: string,
  file: string,
  {
    old,
    newCertificate,
    fewerNames,
  }: { readonly old: X509Certificate; readonly newCertificate: NewCertificate; readonly fewerNames: boolean },
): void {
  const { x509 } = newCertificate;
  const [{ startsAtMs }, before] = [lifeOf(x509), lifeOf(old)];
  if (startsAtMs < before.startsAtMs)
    throw refusal(
      `The certificate is older than ${file}, which ${farmname} has`,
      `It is valid from ${dayOf(startsAtMs)}, ${file} from ${dayOf(before.startsAtMs)}. Give the renewed files.`,
    );
  const lost = namesLost(old, x509);
  if (lost.length > 0 && !fewerNames)
    throw refusal(
      `The certificate does not cover ${lost.join(', ')}, which ${file} of ${farmname} covers`,
      'Renew it with all names. To deliver it nevertheless: --force --reason=TEXT.',
    );
}

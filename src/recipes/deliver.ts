import { X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../lib/check.ts';
import { openRegularFile } from '../lib/disk.ts';
import { certificatesIn, namesOf } from '../lib/pem.ts';
import { dayOf } from '../lib/time.ts';
import { AdminError } from './admin-error.ts';
import { planDelivery, readStored } from './delivery.ts';
import type { Recipe } from './recipe.ts';
import { type PemText, type Renewed, renewedFrom } from './renewed.ts';

/**
 * Creates the recipe that brings a renewed certificate from a folder of this machine to the farms
 * of an appliance that use its predecessor. Reads the private key for each plan and keeps it
 * nowhere: the plan that is made at the approval has a digest over the same key, or is refused.
 */
export function createDeliver(folder: string): Recipe {
  return {
    name: 'deliver',
    about: 'bring a renewed certificate from the folder of this machine to the farms that use its predecessor',
    parameters: { certificate: true },
    async plan(context) {
      const { certificate: file = '' } = context.values;
      const old = await readStored(context, file);
      if (!old) throw cannot(`${file} cannot be read on ${context.calls.appliance}`, 'Look at it in its store.');
      const { path, renewed } = await newestFor(old, file, { folder, nowMs: context.now() });
      const deliveries = await planDelivery(context, renewed, { replaces: file, force: false, wants: () => true });
      const pending = deliveries.filter(({ steps }) => steps.length > 0);
      if (pending.length === 0) throw cannot(`No farm presents ${file}`, 'There is nothing to deliver.');
      return {
        facts: [
          `${file} is for ${namesOf(old).join(', ')} and ends on ${endOf(old)}.`,
          `${path} is for ${renewed.names.join(', ')} and ends on ${endOf(renewed.certificate)}.`,
          `Farms that get it: ${pending.map(({ farm }) => farm.name).join(', ')}. ${file} stays in the store.`,
        ],
        steps: pending.flatMap(({ steps }) => steps),
      };
    },
  };
}

interface Found {
  readonly path: string;
  readonly renewed: Renewed;
}

/** A certificate of the folder, and where its key is. */
interface Candidate {
  readonly cert: PemText;
  readonly keyPath: string;
  readonly certificate: X509Certificate;
}

/**
 * Resolves to the certificate of the folder that may replace another one and ends last. Rejects
 * with an AdminError if there is none.
 */
async function newestFor(
  old: X509Certificate,
  file: string,
  { folder, nowMs }: { readonly folder: string; readonly nowMs: number },
): Promise<Found> {
  const { candidates, unusable } = await candidatesIn(folder);
  const [newest] = candidates
    .filter(({ certificate }) => replaces(certificate, old, nowMs))
    .toSorted((a, b) => b.certificate.validToDate.getTime() - a.certificate.validToDate.getTime());
  if (!newest) {
    const skipped = unusable.length === 0 ? '' : ` Not usable: ${unusable.join('; ')}.`;
    throw cannot(`${folder} has no newer certificate for ${file}`, `Renew it for all of its names.${skipped}`);
  }
  const { cert, keyPath } = newest;
  try {
    return { path: cert.path, renewed: renewedFrom(cert, await readPem(keyPath), nowMs) };
  } catch (error) {
    throw error instanceof AdminError ? error : cannot(`${keyPath} cannot be read (${errorCode(error)})`, letIn);
  }
}

/** Returns true for a certificate that is valid now, ends later, and covers all names. */
function replaces(certificate: X509Certificate, old: X509Certificate, nowMs: number): boolean {
  const names = namesOf(certificate);
  return (
    certificate.publicKey.asymmetricKeyType === old.publicKey.asymmetricKeyType &&
    certificate.validFromDate.getTime() <= nowMs &&
    certificate.validToDate.getTime() > Math.max(nowMs, old.validToDate.getTime()) &&
    certificate.validFromDate > old.validFromDate &&
    namesOf(old).every((name) => names.includes(name) || certificate.checkHost(name) !== undefined)
  );
}

/** Looks into the folder and the folders in it, as certbot, lego and dehydrated fill them. */
async function candidatesIn(
  folder: string,
): Promise<{ readonly candidates: readonly Candidate[]; readonly unusable: readonly string[] }> {
  const candidates: Candidate[] = [];
  const unusable: string[] = [];
  for (const { path, keyPath } of await pairsIn(folder)) {
    const found = await readCandidate(path, keyPath);
    if (typeof found === 'string') unusable.push(found);
    else candidates.push(found);
  }
  return { candidates, unusable };
}

async function readCandidate(path: string, keyPath: string): Promise<Candidate | string> {
  let cert: PemText;
  try {
    cert = await readPem(path);
  } catch (error) {
    return `${path} cannot be read (${errorCode(error) || String(error)})`;
  }
  const parsed = certificatesIn(cert.text);
  if ('problem' in parsed) return `${path} ${parsed.problem}`;
  return { cert, keyPath, certificate: new X509Certificate(parsed.value) };
}

interface Pair {
  readonly path: string;
  readonly keyPath: string;
}

const maxFiles = 1_000;

async function pairsIn(folder: string): Promise<readonly Pair[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw cannot(`${folder} cannot be read (${errorCode(error)})`, letIn);
  });
  const inside = await Promise.all(names.map((name) => readdir(join(folder, name)).catch(() => [])));
  const all = [...names, ...inside.flatMap((files, index) => files.map((file) => join(names[index] ?? '', file)))];
  return all.slice(0, maxFiles).flatMap((name) => {
    const key = keyOf(name);
    return key === undefined ? [] : [{ path: join(folder, name), keyPath: join(folder, key) }];
  });
}

/** Returns the name of the key of a certificate; undefined for any other file. */
function keyOf(name: string): string | undefined {
  // certbot and dehydrated.
  if (/(^|\/)fullchain\.pem$/.test(name)) return name.replace(/fullchain\.pem$/, 'privkey.pem');
  // lego, which has the intermediates alone in `.issuer.crt`.
  return /(?<!\.issuer)\.crt$/.test(name) ? name.replace(/crt$/, 'key') : undefined;
}

const maxPemBytes = 1_048_576;

async function readPem(path: string): Promise<PemText> {
  const handle = await openRegularFile(path);
  try {
    const { size } = await handle.stat();
    if (size > maxPemBytes) throw new Error(`it is longer than ${maxPemBytes} bytes`);
    return { path, text: await handle.readFile('utf8') };
  } finally {
    await handle.close();
  }
}

const letIn = 'Let the user of the exporter read it: admin.approvals.certificates_folder names the folder.';

function endOf({ validToDate }: X509Certificate): string {
  return dayOf(validToDate.getTime());
}

function cannot(title: string, remedy: string): AdminError {
  return new AdminError(title, { detail: 'Nothing was changed.', remedy });
}

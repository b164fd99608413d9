import { X509Certificate } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, toError } from '../../lib/check.ts';
import { lifeOf } from '../../lib/chain.ts';
import { FileKindError, readShort } from '../../lib/disk.ts';
import { type FileAccess, hungFile } from '../../lib/file-access.ts';
import { certificatesIn, namesLost, namesOf } from '../../lib/pem.ts';
import { plural, oneLine } from '../../lib/text.ts';
import { refusal } from '../policy/admin-error.ts';
import { keyTypeOf } from './previous-certificate.ts';
import { type PemText, type NewCertificate, readNewCertificate } from './new-certificate.ts';

/** A folder of renewed certificates, which may be on a network drive. */
export interface CertificatesFolder {
  readonly path: string;
  readonly access: FileAccess;
}

interface CertificateFile {
  readonly cert: PemText;
  readonly keyPath: string;
  readonly certificate: X509Certificate;
}

/**
 * Resolves to the certificate of a folder of this machine that may replace another one and ends
 * last. Reads the private key for each plan and keeps it nowhere. Rejects with an AdminError if
 * there is none.
 */
export async function newestFor(
  old: X509Certificate,
  file: string,
  folder: CertificatesFolder,
  nowMs: number,
): Promise<{ readonly path: string; readonly newCertificate: NewCertificate }> {
  const { pairs, unusable } = await pairsIn(folder);
  let newest: CertificateFile | undefined;
  for (const pair of pairs) {
    const found = await readCandidate(pair, folder);
    if (typeof found === 'string') unusable.push(found);
    else if (!canReplace(found.certificate, old, nowMs)) continue;
    else if (keyTypeOf(found.certificate) !== keyTypeOf(old))
      unusable.push(`${found.cert.path} has an ${keyTypeOf(found.certificate)} key, ${file} an ${keyTypeOf(old)} key`);
    else if (!newest || endsLater(found, newest)) newest = found;
  }
  if (!newest)
    throw refusal(
      `${folder.path} has no newer certificate for ${file}`,
      `It has ${plural(pairs.length, 'pair')} of fullchain.pem and privkey.pem, or NAME.crt and NAME.key, also in ${depthWords}. Renew ${file} for all of its names.${unusableText(unusable)}`,
    );
  return { path: newest.cert.path, newCertificate: await withKey(newest, folder, nowMs) };
}

/** Returns true for a certificate that is valid now, ends later, and covers all names. */
function canReplace(certificate: X509Certificate, old: X509Certificate, nowMs: number): boolean {
  const [{ startsAtMs, endsAtMs }, before] = [lifeOf(certificate), lifeOf(old)];
  return (
    startsAtMs <= nowMs &&
    endsAtMs > Math.max(nowMs, before.endsAtMs) &&
    startsAtMs > before.startsAtMs &&
    // Every certificate covers one without a name.
    namesOf(old).length > 0 &&
    namesLost(old, certificate).length === 0
  );
}

function endsLater({ certificate: one }: CertificateFile, { certificate: other }: CertificateFile): boolean {
  return lifeOf(one).endsAtMs > lifeOf(other).endsAtMs;
}

const maxShown = 5;

function unusableText(files: readonly string[]): string {
  if (files.length === 0) return '';
  const others = files.length > maxShown ? `; and ${plural(files.length - maxShown, 'other file')}` : '';
  return ` Not usable: ${files.slice(0, maxShown).join('; ')}${others}.`;
}

async function readCandidate(
  { path, keyPath }: FilePair,
  folder: CertificatesFolder,
): Promise<CertificateFile | string> {
  let cert: PemText;
  try {
    cert = await readPem(path, folder);
  } catch (error) {
    return unreadableText(path, error);
  }
  const parsed = certificatesIn(cert.text);
  if ('error' in parsed) return `${pathText(path)} ${parsed.error}`;
  return { cert, keyPath, certificate: new X509Certificate(parsed.value) };
}

/** Resolves to a candidate with its key. Rejects with an AdminError if that is of no use. */
async function withKey(
  { cert, keyPath, certificate }: CertificateFile,
  folder: CertificatesFolder,
  nowMs: number,
): Promise<NewCertificate> {
  const key = await readPem(keyPath, folder).catch((error: unknown) => {
    throw refusal(unreadableText(keyPath, error), remedyOf(error));
  });
  const newCertificate = readNewCertificate(cert, key, { nowMs });
  // Another certificate of the file may have the key, and was not compared with the old one.
  if (newCertificate.x509.fingerprint256 === certificate.fingerprint256) return newCertificate;
  throw refusal(
    `${pathText(keyPath)} is not the key of the first certificate in ${cert.path}`,
    'Put the certificate of the server first, and its issuers after it.',
  );
}

interface FilePair {
  readonly path: string;
  readonly keyPath: string;
}

export const maxFiles = 10_000;

/** Folders below the configured one: `live/NAME` of certbot. A loop of links ends there too. */
const maxDepth = 2;
const depthWords = 'two levels of folders in it';

/** Resolves to the pairs of a folder, and to the folders in it that cannot be read. */
async function pairsIn(
  folder: CertificatesFolder,
): Promise<{ readonly pairs: readonly FilePair[]; readonly unusable: string[] }> {
  const pairs: FilePair[] = [];
  const unusable: string[] = [];
  let files = 0;
  for await (const path of filesIn(folder, folder.path, unusable)) {
    files += 1;
    if (files > maxFiles)
      throw refusal(`${folder.path} has more than ${maxFiles} files`, 'Use a folder that has certificates alone.');
    const keyPath = keyPathOf(path);
    if (keyPath !== undefined) pairs.push({ path, keyPath });
  }
  return { pairs, unusable };
}

/** Yields the files of a folder and of the folders in it, as ACME clients fill them. */
async function* filesIn(
  folder: CertificatesFolder,
  path: string,
  unusable: string[],
  depth = 0,
): AsyncGenerator<string> {
  const found = await folder
    .access(path, () => entriesOf(path))
    .catch((error: unknown) => {
      if (depth === 0) throw refusal(`${path} cannot be read (${causeOf(error)})`, remedyOf(error));
      // Anything but a folder, such as a link to a file.
      if (errorCode(error) !== 'ENOTDIR') unusable.push(unreadableText(path, error));
      return [];
    });
  for (const each of found) {
    const inner = join(path, each.name);
    yield inner;
    if (!each.isFile() && depth < maxDepth) yield* filesIn(folder, inner, unusable, depth + 1);
  }
}

/** Resolves to the entries of a folder, and to few more than may be in it if there are more. */
async function entriesOf(path: string): Promise<readonly Dirent[]> {
  const entries: Dirent[] = [];
  for await (const each of await opendir(path)) if (entries.push(each) > maxFiles) break;
  return entries;
}

/** Returns the name of the key of a certificate; undefined for any other file. */
function keyPathOf(name: string): string | undefined {
  // certbot and dehydrated.
  if (/(^|\/)fullchain\.pem$/.test(name)) return name.replace(/fullchain\.pem$/, 'privkey.pem');
  // lego, which has only the intermediates in `.issuer.crt`.
  return /(?<!\.issuer)\.crt$/.test(name) ? name.replace(/crt$/, 'key') : undefined;
}

/** More than forty certificates; chains have a handful. */
const maxPemBytes = 65_536;

async function readPem(path: string, { access }: CertificatesFolder): Promise<PemText> {
  return { path: pathText(path), text: await access(path, () => readShort(path, maxPemBytes)) };
}

function unreadableText(path: string, error: unknown): string {
  if (error instanceof FileKindError) return pathText(error.message);
  return `${pathText(path)} cannot be read (${causeOf(error)})`;
}

function causeOf(error: unknown): string {
  const code = errorCode(error);
  return code === 'ETIMEDOUT' ? hungFile : code || toError(error).message;
}

/** Returns a path for a sentence: its names may have any character. */
function pathText(path: string): string {
  return oneLine(path, 300);
}

function remedyOf(error: unknown): string {
  if (errorCode(error) === 'ETIMEDOUT') return 'A network drive may have lost its server.';
  return 'Let the user of the exporter read it: admin.approvals.certificates_folder names the folder.';
}

import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { journalFormat } from '../../admin/journal/database.ts';
import { historyFormat } from '../../history/database.ts';
import type { AdminSettings, ApplianceSettings, Settings } from '../../config/settings.ts';
import type { WebSettings } from '../../config/web-settings.ts';
import { alertThresholds } from '../../state/alert-thresholds.ts';
import { toError } from '../../lib/check.ts';
import { FileKindError, ifMissing, isThere } from '../../lib/disk.ts';
import { type DatabaseFormat, readFormat } from '../../lib/sqlite-file.ts';
import { findRepeats } from '../../lib/same.ts';
import { plural, joinFirst } from '../../lib/text.ts';
import { dayOf } from '../../lib/time.ts';
import { lifeOf } from '../../lib/chain.ts';
import type { ApplianceCheck } from './probe.ts';

/** A line about the configuration as a whole. */
export interface Note {
  readonly text: string;
  /** True if somebody has to act. */
  readonly isWrong?: boolean;
}

/** Shown to root, who may read what the exporter may not. */
export const asRootNote: Note = {
  text: 'Checked as root. With the user and the permissions of the service: systemctl start zlb-exporter-check',
};

/** Shown where variables name the appliance: the remedies show keys of the configuration file. */
export const variableNotes: readonly Note[] = [
  '',
  'The appliance is given by the environment: write url as ZLB_APPLIANCE_URL, api_key_file as ZLB_API_KEY_FILE',
  'and tls.fingerprint_sha256 as ZLB_TLS_FINGERPRINT_SHA256. Other keys need a file.',
].map((text) => ({ text }));

/** Returns a note about the appliances with L4 farms that the collector `vip` does not probe. */
export function l4Notes(checks: readonly ApplianceCheck[]): readonly Note[] {
  const blind = checks.filter(
    ({ appliance: { collectors }, probe: { facts } }) =>
      collectors.vip?.enabled === false && facts.farms?.some(({ profile }) => profile === 'l4xnat'),
  );
  if (blind.length === 0) return [];
  const names = joinFirst(blind.map(({ appliance: { name } }) => name));
  return [
    {
      text: `The collector vip is off, and only it shows that the daemon of L4 farms has died, or was started without them: the appliance reports such farms as up. To switch it on for them, remove collectors.vip.enabled. Affected: ${names}.`,
    },
  ];
}

/** Returns notes about the listener of the gateway, and tokens that have expired or soon will. */
export function gatewayNotes(admin: AdminSettings | undefined): readonly Note[] {
  if (!admin) return [{ text: 'The admin gateway is off: the configuration has no admin block.' }];
  const { listenAddress, tls, tokens, journalFile } = admin;
  const transport = tls ? (tls.clientCa === undefined ? 'TLS' : 'TLS with client certificates') : 'without TLS';
  const nowMs = Date.now();
  const ends = tokens.flatMap(({ name, expiresAtMs }) => {
    if (expiresAtMs === undefined || expiresAtMs > nowMs + alertThresholds.expirySoonSeconds * 1_000) return [];
    const expires = `${expiresAtMs > nowMs ? 'expires' : 'expired'} on ${dayOf(expiresAtMs)}`;
    return [{ text: `The token of ${name} ${expires}; zlb-exporter token makes one.`, isWrong: true }];
  });
  const certificate = tls ? [certificateNote(tls.cert, 'the command admin does')] : [];
  return [
    {
      text: `The admin gateway: ${listenAddress} ${transport}, ${plural(tokens.length, 'token')}, journal in ${journalFile}.`,
    },
    ...[...certificate, ...ends].map((note) => ({ ...note, text: `  ${note.text}` })),
  ];
}

export function receiverNotes(requests: Settings['requests']): readonly Note[] {
  if (!requests) return [];
  const { listenTcp, listenUdp, tls } = requests;
  const listeners = [
    ...(listenTcp === undefined ? [] : [`${listenTcp} ${tls ? 'TLS' : 'TCP'}`]),
    ...(listenUdp === undefined ? [] : [`${listenUdp} UDP`]),
  ];
  const certificate = tls ? [certificateNote(tls.cert, 'appliances do')] : [];
  return [
    { text: `The log of requests: ${listeners.join(', ')}.` },
    ...certificate.map((note) => ({ ...note, text: `  ${note.text}` })),
  ];
}

/**
 * Tries the files that the exporter uses later than its start; resolves to a note for each that
 * this process cannot use.
 */
export async function unusableNotes({ admin, history }: Settings): Promise<readonly Note[]> {
  const folder = admin?.approvals.certificatesFolder;
  const notes = await Promise.all([
    admin &&
      unwritableNote({
        what: 'journal',
        file: admin.journalFile,
        format: journalFormat,
        key: 'admin.journal_file',
        effect: 'Without it every change is refused. ',
      }),
    history.file === undefined
      ? undefined
      : unwritableNote({ what: 'history', file: history.file, format: historyFormat, key: 'history.file' }),
    folder === undefined ? undefined : unreadableNote(folder),
  ]);
  return notes.filter((note) => note !== undefined);
}

interface DatabaseFile {
  readonly what: string;
  readonly file: string;
  readonly format: DatabaseFormat;
  /** The key that names the file. */
  readonly key: string;
  /** A sentence, with a space after it. */
  readonly effect?: string;
}

/** Creates and removes a folder where the file would be created; changes no file. */
async function unwritableNote({ what, file, format, key, effect = '' }: DatabaseFile): Promise<Note | undefined> {
  try {
    await assertFormat(file, format).catch(ifMissing);
    let folder = dirname(file);
    while (!(await isThere(folder))) folder = dirname(folder);
    await rmdir(await mkdtemp(join(folder, '.journal-check-')));
    return undefined;
  } catch (error) {
    const remedy =
      error instanceof FileKindError ? 'Move it away' : `Give ${dirname(file)} to the user of the exporter`;
    return {
      text: `  The ${what} cannot be written: ${toError(error).message}. ${effect}${remedy}, or name another file in ${key}.`,
      isWrong: true,
    };
  }
}

async function assertFormat(file: string, { applicationId, version }: DatabaseFormat): Promise<void> {
  const found = await readFormat(file);
  if (found === 'empty') return;
  const isOther =
    found === 'other' ||
    (found.applicationId !== 0 && (found.applicationId !== applicationId || found.version !== version));
  if (isOther) throw new FileKindError(`${file} is another file, or of another version`);
}

async function unreadableNote(folder: string): Promise<Note | undefined> {
  return await readdir(folder).then(
    () => undefined,
    (error: unknown) => ({
      text: `  The certificates in ${folder} cannot be read: ${toError(error).message}. Let the user of the exporter read it, or name another folder in admin.approvals.certificates_folder.`,
      isWrong: true,
    }),
  );
}

/** Returns notes about the protection of the metrics listener and the end of its certificate. */
export function webNotes({ tls, users }: WebSettings): readonly Note[] {
  const clients = tls && tls.clientAuth !== 'NoClientCert' ? `, client_auth_type ${tls.clientAuth}` : '';
  const passwords = users.size === 0 ? 'no password' : plural(users.size, 'user');
  return [
    { text: `The web configuration is valid: ${tls ? 'TLS' : 'plain HTTP'}${clients}, ${passwords}.` },
    ...(tls ? [certificateNote(tls.cert, 'Prometheus does')] : []),
  ];
}

/** `clients` is a clause about clients that refuse a certificate which is not valid now. */
function certificateNote(cert: string, clients: string): Note {
  const { startsAtMs, endsAtMs } = lifeOf(new X509Certificate(cert));
  const nowMs = Date.now();
  const refused = `clients that check it, as ${clients}, refuse to connect`;
  if (endsAtMs <= nowMs)
    return { text: `Its certificate EXPIRED on ${dayOf(endsAtMs)}: ${refused}. Renew it.`, isWrong: true };
  if (startsAtMs > nowMs)
    return {
      text: `Its certificate is NOT VALID before ${new Date(startsAtMs).toISOString()}: until then ${refused}. Use one that is valid now, or check the clock of this machine.`,
      isWrong: true,
    };
  return { text: `Its certificate is valid until ${dayOf(endsAtMs)}.` };
}

export function sharedAddressNotes(appliances: readonly Pick<ApplianceSettings, 'name' | 'url'>[]): readonly Note[] {
  return findRepeats(appliances.map(({ url }) => url.host)).map(({ index, first }) => ({
    text: `${appliances[index]?.name} has the address ${appliances[index]?.url.host} of ${appliances[first]?.name}: one appliance under two names is polled twice; remove one of them`,
    isWrong: true,
  }));
}

export function exposedKeyNote(path: string): Note {
  return {
    text: `Every user of this machine can read the key in ${path}. Let only its owner read it, who must be the user of the exporter: chmod 600 ${path}`,
    isWrong: true,
  };
}

import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';

import type { Secret } from '../lib/secret.ts';
import { readFileText } from './file-text.ts';
import type { Outcome, Path, Problems } from './problems.ts';
import { apiKey } from './readers.ts';
import type { ApplianceFile } from './schema.ts';
import type { Partly } from './structure.ts';
import type { Source } from './yaml-file.ts';

/** What the files hold that the settings of an appliance name. */
export interface Opened {
  readonly apiKey: Secret | undefined;
  /** PEM. */
  readonly ca: string | undefined;
}

/** Reads the key and the authority of the appliance at a path of the configuration. */
export async function openFiles(
  appliance: Partly<ApplianceFile> | undefined,
  at: Path,
  source: Source,
  problems: Problems,
): Promise<Opened> {
  const open = async <T>(name: string | undefined, keys: Path, { purpose, read }: Kind<T>) => {
    if (name === undefined) return undefined;
    const text = await readFileText(resolve(source.folder, name), purpose);
    const outcome = 'value' in text ? read(text.value) : { problem: `${text.problem}. ${pathHint}` };
    if ('value' in outcome) return outcome.value;
    problems.report(source.place([...at, ...keys]), outcome.problem);
    return undefined;
  };
  return {
    apiKey: appliance?.api_key ?? (await open(appliance?.api_key_file, ['api_key_file'], keyFile)),
    ca: await open(appliance?.tls?.ca_file, ['tls', 'ca_file'], caFile),
  };
}

/** A kind of file: how long it may be, and what is made of its text. */
interface Kind<T> {
  readonly purpose: 'key' | 'certificates';
  readonly read: (text: string) => Outcome<T>;
}

const keyFile: Kind<Secret> = { purpose: 'key', read: keyIn };
const caFile: Kind<string> = { purpose: 'certificates', read: certificatesIn };
const pathHint = 'Give the path of a file the exporter may read, best an absolute one';

function keyIn(text: string): Outcome<Secret> {
  return apiKey(text.replace(/[\r\n]+$/, ''));
}

/** The certificates alone: a private key in the same file stays out of memory. */
function certificatesIn(text: string): Outcome<string> {
  const found = text.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (found.length === 0) {
    return {
      problem:
        'holds no PEM certificate; it needs a part from "-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----"',
    };
  }
  const broken = found.findIndex((pem) => !isCertificate(pem));
  if (broken === -1) return { value: `${found.join('\n')}\n` };
  return { problem: `certificate ${broken + 1} of ${found.length} in it is damaged; export it again` };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

import { AdminError, refusal } from '../policy/admin-error.ts';
import { bodyTypes } from '../policy/operation.ts';
import { jsonContent, readStored } from './calls.ts';
import { safeFarm } from './farm.ts';
import { callStep, type RecipeContext, type Step } from './recipe.ts';
import type { NewCertificate } from './new-certificate.ts';

export interface Replacement {
  readonly farmname: string;
  readonly newCertificate: NewCertificate;
  readonly isStored: boolean;
  readonly old: string;
  /** Position of the old certificate, from 0. */
  readonly position: number;
  readonly count: number;
  /**
   * True when the appliance adds a certificate and keeps the others, as the Enterprise Edition
   * does.
   */
  readonly keepsBoth: boolean;
  /** True when the farm has the new certificate already, beside the old one. */
  readonly isAttached: boolean;
}

/**
 * Returns the steps before the restart: upload, verify, attach, and remove the old certificate from
 * the farm.
 */
export function certificateSteps(context: RecipeContext, replacement: Replacement): readonly Step[] {
  const { farmname, newCertificate, isStored, position, count, keepsBoth, isAttached } = replacement;
  const { file } = newCertificate;
  const attach = callStep({
    title: `Attach ${file} to ${farmname}`,
    write: { operationId: 'addFarmCertificate', params: { farmname }, content: jsonContent({ file }) },
    done: `${farmname} has ${file}; clients see it once the farm has loaded it.`,
  });
  const added = isAttached
    ? []
    : [...(isStored ? [] : [uploadStep(context, newCertificate)]), verifyStoredStep(context, file), attach];
  if (!keepsBoth) return added;
  // The old one goes last: a farm that lost its certificate could not start again.
  const moved = position === count - 1 ? added : [...added, moveStep(replacement)];
  return [...moved, removeOldStep(context, replacement)];
}

/** Uploads only what is not in the store by then, and compares what the store has afterwards. */
function uploadStep(context: RecipeContext, newCertificate: NewCertificate): Step {
  const { file, bytes } = newCertificate;
  const write = {
    operationId: 'uploadCertificate',
    params: { file },
    content: { type: bodyTypes.pem[0], bytes },
  } as const;
  return {
    title: `Upload it as ${file}`,
    write,
    async run(send) {
      const { params } = await context.calls.read('listCertificates', {});
      const isThere = params.some((each) => each.file === file);
      if (!isThere) await send(write);
      await assertSameStored(context, newCertificate);
      return `${file} is in the store${isThere ? ' already' : ''}.`;
    },
  };
}

/** Rejects with an AdminError when the store has another certificate under the name of this one. */
export async function assertSameStored(context: RecipeContext, { file, x509 }: NewCertificate): Promise<void> {
  const stored = await readStored(context, file);
  if (stored?.fingerprint256 !== x509.fingerprint256)
    throw refusal(`${file} in the store is another certificate`, 'Find out who put it there, and delete it.');
}

/**
 * Returns the last step, which checks that the farm has the new certificate and not the old one.
 */
export function verifyShownStep(
  context: RecipeContext,
  { farmname, newCertificate: { file }, old }: Replacement,
): Step {
  return {
    title: `See that ${farmname} has ${file} and not ${old}`,
    async run() {
      const files = await farmCertificates(context, farmname);
      if (files.includes(file) && !files.includes(old)) return `${farmname} has ${files.join(', ')}.`;
      throw unexpected(`${farmname} has ${files.join(', ') || 'no certificate'}`, 'Check the farm first.');
    },
  };
}

/** Resolves to the files of a farm's certificates, in their order. */
export async function farmCertificates(
  { calls }: Pick<RecipeContext, 'calls'>,
  farm: string,
): Promise<readonly string[]> {
  const { params } = await calls.read('readFarm', { farmname: await safeFarm({ calls }, farm) });
  return (params.certlist ?? []).map(({ file }) => file ?? '');
}

function verifyStoredStep({ calls }: RecipeContext, file: string): Step {
  return {
    title: `See that the appliance finds ${file} valid`,
    async run() {
      const { params } = await calls.read('listCertificates', {});
      const status = params.find((entry) => entry.file === file)?.status ?? 'not there';
      if (status === 'valid') return `${file} is valid.`;
      if (status === 'about to expire') return `${file} is valid, and about to expire.`;
      throw unexpected(
        `${file} is ${status} in the store`,
        'The appliance cannot load it: check key, chain and digest.',
      );
    },
  };
}

function removeOldStep(context: RecipeContext, { farmname, newCertificate: { file }, old }: Replacement): Step {
  const write = { operationId: 'removeFarmCertificate', params: { farmname, certificate: old } } as const;
  return {
    title: `Remove ${old} from ${farmname}`,
    write,
    async run(send) {
      // Early releases do not tell beforehand whether they replace or add.
      const files = await farmCertificates(context, farmname);
      if (!files.includes(file))
        throw unexpected(`${farmname} does not have ${file}`, `It keeps ${files.join(', ') || 'no certificate'}.`);
      if (!files.includes(old)) return `${old} was replaced already.`;
      await send(write);
      return `${farmname} no longer has ${old}.`;
    },
  };
}

/**
 * Moves the new certificate, which is the last one, before the old one; clients without a server
 * name get the first one.
 */
function moveStep({ farmname, newCertificate: { file }, old, position, count }: Replacement): Step {
  return callStep({
    title: `Move ${file} to place ${position + 1} of ${count}, where ${old} was`,
    write: {
      operationId: 'moveFarmCertificate',
      params: { farmname, certificate: file },
      content: jsonContent({ position: String(position) }),
    },
    done: `${file} is at place ${position + 1}.`,
  });
}

function unexpected(title: string, remedy: string): AdminError {
  return new AdminError(title, { detail: 'The appliance accepted every call before it.', remedy });
}

import { AdminError } from '../admin-error.ts';
import { jsonContent } from '../calls.ts';
import { contentTypes } from '../content.ts';
import { callStep, type RecipeContext, type Step } from './recipe.ts';

/** What goes where when a farm's certificate is replaced. */
export interface Replacement {
  readonly farmname: string;
  /** The name of the new one in the store. */
  readonly file: string;
  /** Undefined where the store has it already. */
  readonly bytes: Buffer | undefined;
  readonly old: string;
  /** From 0, of the old one. */
  readonly position: number;
  /** How many certificates the farm has. */
  readonly count: number;
  /** True where the appliance adds a certificate and keeps the others, as Enterprise does. */
  readonly keepsBoth: boolean;
}

/** Everything before the restart: upload, look, attach, and the old one off the farm (docs/api.md §5.3). */
export function certificateSteps(context: RecipeContext, replacement: Replacement): readonly Step[] {
  const { farmname, file, bytes, old, position, count, keepsBoth } = replacement;
  const admin = `zlb-exporter admin ${context.calls.appliance}`;
  const putBack = `${admin} addFarmCertificate farmname=${farmname} file=${old}, then restart-farm farm=${farmname}`;
  const upload = (content: Buffer): Step =>
    callStep({
      title: `Upload it as ${file}`,
      write: { key: 'uploadCertificate', params: { file }, content: { type: contentTypes.pem, bytes: content } },
      done: `${file} is in the store.`,
      undo: `${admin} deleteCertificate file=${file} --confirm=${file}`,
    });
  const attach = callStep({
    title: `Attach ${file} to ${farmname}`,
    write: { key: 'addFarmCertificate', params: { farmname }, content: jsonContent({ file }) },
    done: `${farmname} has ${file}; clients see it after the restart.`,
    undo: keepsBoth
      ? `${admin} removeFarmCertificate farmname=${farmname} certificate=${file} --confirm=${file}`
      : putBack,
  });
  const added = [...(bytes ? [upload(bytes)] : []), verifyStored(context, file), attach];
  if (!keepsBoth) return added;
  const takenOff = [...added, takeOff(context, replacement, putBack)];
  return position === count - 1 ? takenOff : [...takenOff, move(replacement)];
}

/** The look at the end: the new one is there and the old one is not. */
export function verifyShown(context: RecipeContext, { farmname, file, old }: Replacement): Step {
  return {
    title: `See that ${farmname} has ${file} and not ${old}`,
    async run() {
      const files = await farmCertificates(context, farmname);
      if (files.includes(file) && !files.includes(old)) return `${farmname} has ${files.join(', ')}.`;
      throw unexpected(`${farmname} has ${files.join(', ') || 'no certificate'}`, 'Look at the farm before all else.');
    },
  };
}

/** The files of a farm's certificates, in their order. */
export async function farmCertificates(
  { calls }: Pick<RecipeContext, 'calls'>,
  farmname: string,
): Promise<readonly string[]> {
  const { params } = await calls.read('readFarm', { farmname });
  return (params.certlist ?? []).map(({ file }) => file ?? '');
}

function verifyStored({ calls }: RecipeContext, file: string): Step {
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

function takeOff(context: RecipeContext, { farmname, old }: Replacement, putBack: string): Step {
  const write = { key: 'removeFarmCertificate', params: { farmname, certificate: old }, confirm: old } as const;
  return {
    title: `Take ${old} off ${farmname}`,
    write,
    async run(send) {
      // Of an early release it is not known beforehand whether it replaces or adds.
      if (!(await farmCertificates(context, farmname)).includes(old)) return `${old} was replaced already.`;
      await send(write);
      return `${farmname} has ${old} no more.`;
    },
    undo: putBack,
  };
}

/** A new one comes last; the first is what clients without a server name get. */
function move({ farmname, file, old, position, count }: Replacement): Step {
  return callStep({
    title: `Move ${file} to place ${position + 1} of ${count}, where ${old} was`,
    write: {
      key: 'moveFarmCertificate',
      params: { farmname, certificate: file },
      content: jsonContent({ position: String(position) }),
    },
    done: `${file} is at place ${position + 1}.`,
  });
}

function unexpected(title: string, remedy: string): AdminError {
  return new AdminError(title, { detail: 'Every call before it was answered with a yes.', remedy });
}

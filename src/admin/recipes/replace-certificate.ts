import type { ReplyOf } from '../../appliance/client.ts';
import { dateToSeconds } from '../../appliance/text-date.ts';
import { adminCommand } from '../../lib/text.ts';
import { dayOf } from '../../lib/time.ts';
import { cannot } from '../policy/admin-error.ts';
import { certificateSteps, farmCertificates, verifyShown } from './certificate-steps.ts';
import { readEdition } from './edition.ts';
import type { Recipe } from './recipe.ts';
import { type Renewed, renewedFrom } from './renewed.ts';
import { readState, restartSteps } from './restart-farm.ts';

export const replaceCertificate: Recipe = {
  name: 'replace-certificate',
  about: "put a new certificate in the place of a farm's, and restart the farm",
  parameters: { farm: true, name: false, old: false },
  files: { file: { isRequired: true, hasKey: true } },
  async plan(context) {
    const { calls, values, files, now } = context;
    const { farm: farmname = '' } = values;
    const pem = { path: values.name ?? 'file', text: files.file ?? '' };
    const renewed = renewedFrom(pem, pem, now());
    const file = storeName(values.name ?? renewed.file);
    const farm = await readState(context, farmname);
    if (farm.profile !== 'https')
      throw cannot(`${farmname} does not speak HTTPS`, 'Only HTTPS farms have certificates.');
    const used = await farmCertificates(context, farmname);
    const old = chooseOld(farmname, used, values.old);
    const { params: stored } = await calls.read('listCertificates', {});
    const present = stored.find((each) => each.file === file);
    if (present && !isSame(present, renewed)) throw cannot(`${file} is in the store already`, takenRemedy);
    if (used.includes(file))
      throw cannot(`${farmname} has ${file} already`, leftToDo(calls.appliance, farmname, old, file));
    const replacement = {
      farmname,
      file,
      bytes: present ? undefined : renewed.bytes,
      old,
      position: used.indexOf(old),
      count: used.length,
      keepsBoth: (await readEdition(context)) !== 'community',
    };
    const { CN: oldName = '-', expiration: oldEnd = '-' } = stored.find(({ file }) => file === old) ?? {};
    const { names, certificate } = renewed;
    const oldEndSeconds = dateToSeconds(oldEnd ?? '');
    const endsSooner = oldEndSeconds !== undefined && certificate.validToDate.getTime() < oldEndSeconds * 1_000;
    const covers = oldName === '-' || oldName === null || names.includes(oldName) || certificate.checkHost(oldName);
    return {
      facts: [
        `${pem.path}: ${names.join(', ')}, from ${dayOf(certificate.validFromDate.getTime())} to ${dayOf(certificate.validToDate.getTime())}, key and certificate match.`,
        `${farmname} at ${farm.address} is ${farm.status} and shows ${old} (${oldName}, until ${oldEnd}).`,
        ...(endsSooner
          ? [`Mind: the new certificate ends on ${dayOf(certificate.validToDate.getTime())}, before the old one.`]
          : []),
        ...(covers ? [] : [`Mind: the new certificate is not good for ${oldName}, the name of the old one.`]),
        ...(present
          ? [`${file} is in the store already, with the same name and dates: it is not uploaded again.`]
          : []),
        `${old} stays in the store.`,
      ],
      steps: [
        ...certificateSteps(context, replacement),
        ...restartSteps(context, farm),
        verifyShown(context, replacement),
      ],
    };
  },
};

/** Returns what to do on a farm that has the new certificate already. */
function leftToDo(appliance: string, farmname: string, old: string, file: string): string {
  if (old === file) return 'Nothing is to be replaced.';
  const words = [`farmname=${farmname}`, `certificate=${old}`, `--confirm=${old}`];
  return `To take ${old} off the farm: ${adminCommand(appliance, 'removeFarmCertificate', ...words)}. Then restart the farm.`;
}

function chooseOld(farmname: string, used: readonly string[], wanted: string | undefined): string {
  const [only = '', ...more] = used;
  if (wanted === undefined && more.length > 0)
    throw cannot(`${farmname} has ${used.length} certificates`, `Say which one goes: old=${used.join(', or old=')}.`);
  const old = wanted ?? only;
  if (!used.includes(old))
    throw cannot(`${farmname} has no certificate ${old}`, `It has ${used.join(', ') || 'none'}.`);
  return old;
}

/** The appliance refuses an upload under a name that is taken (docs/api.md §4.4). */
const takenRemedy = 'It is another one, and a file in the store is never overwritten; choose another name with name=….';

function storeName(wanted: string): string {
  const file = wanted.endsWith('.pem') ? wanted : `${wanted}.pem`;
  if (!/^[\w.-]+$/.test(file))
    throw cannot(`${file} is no name for the store`, 'Choose letters, digits, . _ - with name=….');
  return file;
}

/**
 * Returns true if the store has this certificate already, from the replacement on another farm. The
 * list shows names and dates only.
 */
function isSame(stored: ReplyOf<'listCertificates'>['params'][number], { certificate, names }: Renewed): boolean {
  const seconds = (date: Date): number => date.getTime() / 1_000;
  return (
    names.includes(stored.CN ?? '') &&
    dateToSeconds(stored.creation ?? '') === seconds(certificate.validFromDate) &&
    dateToSeconds(stored.expiration ?? '') === seconds(certificate.validToDate)
  );
}

import { basename } from 'node:path';
import { AdminError } from '../admin-error.ts';
import { certificateSteps, farmCertificates, verifyShown } from './certificate-steps.ts';
import { readEdition } from './edition.ts';
import { day, readPemFile, refuseUnusable } from './pem-file.ts';
import type { Recipe } from './recipe.ts';
import { readState, restartSteps } from './restart-farm.ts';

export const replaceCertificate: Recipe = {
  name: 'replace-certificate',
  about: "put a new certificate in the place of a farm's, and restart the farm",
  parameters: { farm: true, file: true, name: false, old: false },
  async plan(context) {
    const { calls, values, now } = context;
    const { farm: farmname = '', file: path = '', name = basename(path) } = values;
    const pem = await readPemFile(path);
    refuseUnusable(pem, now());
    const farm = await readState(context, farmname);
    if (farm.profile !== 'https')
      throw refusal(`${farmname} does not speak HTTPS`, 'Only HTTPS farms have certificates.');
    const used = await farmCertificates(context, farmname);
    const old = chooseOld(farmname, used, values.old);
    const { params: stored } = await calls.read('listCertificates', {});
    const replacement = {
      farmname,
      file: freeName(
        name,
        stored.map(({ file }) => file),
      ),
      bytes: pem.bytes,
      old,
      position: used.indexOf(old),
      count: used.length,
      keepsBoth: (await readEdition(context)) !== 'community',
    };
    const { CN: oldName = '-', expiration: oldEnd = '-' } = stored.find(({ file }) => file === old) ?? {};
    const { names, certificate } = pem;
    const covers = oldName === '-' || oldName === null || names.includes(oldName) || certificate.checkHost(oldName);
    return {
      facts: [
        `${path}: ${names.join(', ') || 'no names'}, from ${day(certificate.validFromDate)} to ${day(certificate.validToDate)}, key and certificate match.`,
        `${farmname} at ${farm.address} is ${farm.status} and shows ${old} (${oldName}, until ${oldEnd}).`,
        ...(covers ? [] : [`Mind: the new certificate is not good for ${oldName}, the name of the old one.`]),
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

function chooseOld(farmname: string, used: readonly string[], wanted: string | undefined): string {
  const [only = '', ...more] = used;
  if (wanted === undefined && more.length > 0)
    throw refusal(`${farmname} has ${used.length} certificates`, `Say which one goes: old=${used.join(', or old=')}.`);
  const old = wanted ?? only;
  if (!used.includes(old))
    throw refusal(`${farmname} has no certificate ${old}`, `It has ${used.join(', ') || 'none'}.`);
  return old;
}

/** A file in the store is never overwritten (WIRE.md §5.3). */
function freeName(wanted: string, present: readonly string[]): string {
  const file = wanted.endsWith('.pem') ? wanted : `${wanted}.pem`;
  if (!/^[\w.-]+$/.test(file))
    throw refusal(`${file} is no name for the store`, 'Choose letters, digits, . _ - with name=….');
  if (present.includes(file)) throw refusal(`${file} is in the store already`, 'Choose another name with name=….');
  return file;
}

function refusal(title: string, remedy: string): AdminError {
  return new AdminError(title, { detail: 'Nothing was changed.', remedy });
}

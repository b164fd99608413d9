import { AdminError } from '../../admin/policy/admin-error.ts';
import { jsonContent, type Write } from '../../admin/recipes/calls.ts';
import { farmCertificates, type Replacement } from '../../admin/recipes/certificate-steps.ts';
import type { RecipeContext } from '../../admin/recipes/recipe.ts';
import { readState, restartSteps } from '../../admin/recipes/restart-farm.ts';
import type { FarmDelivery } from '../../admin/recipes/delivery.ts';

/** The state of a farm before a run that failed. */
export interface Before {
  /** The certificates of the farm before the first step, in their order. */
  readonly files: readonly string[];
  /** `unknown`: the call failed, and may have been carried out. */
  readonly restart: 'not called' | 'done' | 'unknown';
}

/**
 * Gives a farm the certificates that it had before a delivery that failed, and starts it if the
 * failed restart stopped it. A farm that was restarted keeps the new certificate. Resolves to a
 * sentence about the farm; rejects with an AdminError when it could not be put back.
 */
export async function putBack(
  context: RecipeContext,
  send: (write: Write) => Promise<void>,
  { farm, replacement }: FarmDelivery,
  { files, restart }: Before,
): Promise<string> {
  const { name: farmname } = farm;
  const kept = `${farmname} was restarted with its present certificates and keeps them.`;
  if (restart === 'done') return kept;
  const { status } = await readState(context, farmname);
  const isStopped = status === 'down' && farm.status !== 'down';
  if (restart === 'unknown' && !isStopped && status !== 'needed restart') return kept;
  if (replacement) await restore(replacement);
  if (isStopped) {
    for (const step of restartSteps(context, farm)) await step.run(send);
    return `${farmname} was started again with ${files.join(', ')}.`;
  }
  const waits = status === 'needed restart' ? '; its state is needed restart' : '';
  return `${farmname} has ${files.join(', ')}, as before${waits}.`;

  /** Undoes what this run did: a certificate that was there before it stays. */
  async function restore({ file, old, position, keepsBoth }: Replacement): Promise<void> {
    const params = { farmname };
    let present = await farmCertificates(context, farmname);
    if (!present.includes(old)) await send({ key: 'addFarmCertificate', params, content: jsonContent({ file: old }) });
    present = await farmCertificates(context, farmname);
    if (present.includes(file) && !files.includes(file))
      await send({ key: 'removeFarmCertificate', params: { farmname, certificate: file }, confirm: file });
    present = await farmCertificates(context, farmname);
    if (keepsBoth && present.join() !== files.join())
      await send({
        key: 'moveFarmCertificate',
        params: { farmname, certificate: old },
        content: jsonContent({ position: String(position) }),
      });
    present = await farmCertificates(context, farmname);
    if (present.join() === files.join()) return;
    throw new AdminError(`${farmname} has ${present.join(', ') || 'no certificate'}`, {
      detail: `It had ${files.join(', ')}.`,
      remedy: 'Attach what is missing in the web interface before the next restart.',
    });
  }
}

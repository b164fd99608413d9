import { AdminError } from '../policy/admin-error.ts';
import { jsonContent, type Write } from './calls.ts';
import { farmCertificates, type Replacement } from './certificate-steps.ts';
import type { RecipeContext, Step, Rollback } from './recipe.ts';
import { type FarmReading, readState, restartSteps } from './restart-farm.ts';

/** What the steps for a farm have done so far. */
interface Progress {
  isUploaded: boolean;
  /** `unknown`: the call failed, and may have been carried out. */
  restart: 'not called' | 'done' | 'unknown';
}

interface Before {
  readonly farm: FarmReading;
  readonly replacement: Replacement;
  /** The certificates of the farm before the first step, in their order. */
  readonly files: readonly string[];
}

/**
 * Returns the steps of a delivery to a farm, each with a rollback: after a failure the farm gets the
 * certificates that it had, and is started if the failed restart stopped it. A farm that was restarted
 * keeps the new certificate.
 */
export function withRollback(steps: readonly Step[], before: Before): readonly Step[] {
  const { farm, replacement } = before;
  const progress: Progress = { isUploaded: false, restart: 'not called' };
  const calls = rollbackCalls(before);
  const rollback: Rollback = {
    writes: Object.values(calls),
    run: (context, send) => rollBack(context, send, { ...before, ...progress, calls }),
    manualRemedy: `Look at ${farm.name}, which had ${replacement.old}.`,
  };
  return steps.map((step) => ({
    ...step,
    rollback,
    run: (send, calls) => step.run(recordProgress(send, progress), calls),
  }));
}

function recordProgress(send: (write: Write) => Promise<void>, progress: Progress): (write: Write) => Promise<void> {
  return async (write) => {
    if (write.operationId === 'actOnFarm') progress.restart = 'unknown';
    if (write.operationId === 'uploadCertificate') progress.isUploaded = true;
    await send(write);
    if (write.operationId === 'actOnFarm') progress.restart = 'done';
  };
}

function rollbackCalls({ farm: { name: farmname }, replacement: { newCertificate, old, position } }: Before) {
  const { file } = newCertificate;
  const content = (body: Readonly<Record<string, string>>) => ({ content: jsonContent(body) });
  return {
    attachOld: { operationId: 'addFarmCertificate', params: { farmname }, ...content({ file: old }) },
    takeOffNew: { operationId: 'removeFarmCertificate', params: { farmname, certificate: file } },
    moveOld: {
      operationId: 'moveFarmCertificate',
      params: { farmname, certificate: old },
      ...content({ position: String(position) }),
    },
    restart: { operationId: 'actOnFarm', params: { farmname }, ...content({ action: 'restart' }) },
    deleteNew: { operationId: 'deleteCertificate', params: { file } },
  } satisfies Readonly<Record<string, Write>>;
}

type Failed = Before & Progress & { readonly calls: ReturnType<typeof rollbackCalls> };

async function rollBack(
  context: RecipeContext,
  send: (write: Write) => Promise<void>,
  { farm, replacement, files, isUploaded, restart, calls }: Failed,
): Promise<string> {
  const { name: farmname } = farm;
  const { newCertificate, old, keepsBoth } = replacement;
  const { file } = newCertificate;
  const unchanged = `${farmname} was restarted with its present certificates and keeps them.`;
  if (restart === 'done') return unchanged;
  const { state } = await readState(context, farmname);
  const isStopped = state === 'down' && farm.state !== 'down';
  if (restart === 'unknown' && !isStopped && state !== 'needed_restart') return unchanged;
  await restore();
  if (isStopped) for (const step of restartSteps(context, farm)) await step.run(send, context.calls);
  const left = isUploaded ? await deleteUpload() : '';
  if (isStopped) return `${farmname} was started again with ${files.join(', ')}.${left}`;
  const waits = state === 'needed_restart' ? '; its state is needed restart' : '';
  return `${farmname} has ${files.join(', ')}, as before${waits}.${left}`;

  /** Undoes what this run did: a certificate that was there before it stays. */
  async function restore(): Promise<void> {
    let present = await farmCertificates(context, farmname);
    if (!present.includes(old)) await send(calls.attachOld);
    present = await farmCertificates(context, farmname);
    if (present.includes(file) && !files.includes(file)) await send(calls.takeOffNew);
    present = await farmCertificates(context, farmname);
    if (keepsBoth && present.join() !== files.join()) await send(calls.moveOld);
    present = await farmCertificates(context, farmname);
    if (present.join() === files.join()) return;
    throw new AdminError(`${farmname} has ${present.join(', ') || 'no certificate'}`, {
      detail: `It had ${files.join(', ')}.`,
      remedy: 'Attach what is missing in the web interface before the next restart.',
    });
  }

  /** Deletes the uploaded file; one that stays in the store does no harm. */
  async function deleteUpload(): Promise<string> {
    try {
      await send(calls.deleteNew);
      return ` ${file} is out of the store again.`;
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      return ` ${file} stays in the store.`;
    }
  }
}

import { AdminError } from './admin-error.ts';
import type { Calls, Write } from './calls.ts';
import { wantsToGoOn } from './confirm.ts';
import { isHopeless, type Preview, warningLines } from './preview.ts';
import type { Wishes } from './request.ts';
import type { AdminSession } from './session.ts';

/**
 * Asks the gateway what it thinks of a change before it is sent, and passes its warnings on. Resolves to false when a
 * person does not want it any more; rejects with an AdminError when it would be refused.
 */
export async function looksGood(
  write: Write,
  wishes: Wishes,
  calls: Pick<Calls, 'appliance' | 'preview'>,
  { flags, shell, warn }: Pick<AdminSession, 'flags' | 'shell' | 'warn'>,
): Promise<boolean> {
  const preview = await calls.preview(write, wishes);
  if (preview.would === 'be refused') throw refusedByGateway(preview);
  // The appliance has the last word, and its description may be wrong.
  if (isHopeless(preview) && wishes.force !== true) throw refusedByAppliance(preview, calls.appliance);
  const warnings = warningLines(preview);
  for (const line of warnings) warn(line);
  if (warnings.length === 0 || flags.yes === true || flags.json === true || !shell.ask) return true;
  return await wantsToGoOn(shell.ask);
}

function refusedByGateway(preview: Preview): AdminError {
  const { because, findings, confirmation } = preview;
  const blocking = findings.filter(({ severity }) => severity === 'blocking');
  return new AdminError(`The gateway would refuse ${preview.operation}, so it was not sent`, {
    detail: because.join(' '),
    remedy: [
      ...blocking.map(({ remedy }) => remedy),
      ...(blocking.length > 0 ? ['Here: --force --reason=TEXT.'] : []),
      ...(confirmation.required && !confirmation.given ? ['Here: --confirm=NAME.'] : []),
      ...(because.some((sentence) => /frozen/i.test(sentence)) ? ['Here: zlb-exporter admin unfreeze.'] : []),
    ].join(' '),
    body: Buffer.from(JSON.stringify(preview)),
  });
}

function refusedByAppliance(preview: Preview, appliance: string): AdminError {
  const { operation, validation } = preview;
  return new AdminError(`${appliance} would refuse ${operation}, so it was not sent`, {
    detail: validation.problems.join(' '),
    remedy: `zlb-exporter admin parameters ${appliance} ${operation} … explains what it takes; --force --reason=TEXT sends it all the same.`,
    body: Buffer.from(JSON.stringify(preview)),
  });
}

import { AdminError } from './admin-error.ts';
import type { Calls, Write } from './calls.ts';
import { wouldFail, type Preview, warningLines } from './preview.ts';
import type { CallOptions } from './request.ts';

/**
 * Asks the gateway for a dry run of a change before it is sent. Resolves to the lines of its warnings; rejects with an
 * {@link AdminError} when the change would be refused.
 */
export async function preflight(
  write: Write,
  options: CallOptions,
  calls: Pick<Calls, 'appliance' | 'preview'>,
): Promise<readonly string[]> {
  const preview = await calls.preview(write, options);
  if (preview.would === 'be refused') throw refusedByGateway(preview);
  // The appliance has the last word, and its description may be wrong.
  if (wouldFail(preview) && options.force !== true) throw refusedByAppliance(preview, calls.appliance);
  return warningLines(preview);
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

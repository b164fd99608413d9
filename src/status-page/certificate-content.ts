import type { CertificateStatus } from '../poller/status.ts';
import { certificateProblem } from './certificate-problems.ts';
import { certificateTable } from './certificate-table.ts';
import type { ApplianceHealth } from './health-summary.ts';
import { html, type Markup } from './html.ts';
import { backTo, emptyNote, panel, problemList, singlePanel } from './section.ts';
import { wordOf } from './severity.ts';
import { isoTime } from './times.ts';

/** Renders one certificate of the store of an appliance. */
export function certificateContent({ status }: ApplianceHealth, file: string, nowMs: number): Markup {
  const { name: appliance, certificates } = status;
  const certificate = certificates?.find((each) => each.file === file);
  const problem = certificate && certificateProblem(appliance, certificate, nowMs);
  const absent = certificates
    ? 'The appliance has no certificate in a file of that name now.'
    : 'The certificates of the appliance were not read, or so long ago that they are not shown.';
  return html`${backTo(appliance)}
${singlePanel('certificates', html`Certificate <bdi>${file}</bdi>`, certificate === undefined ? emptyNote(absent) : [certificateTable([{ appliance, certificate }], nowMs), facts(certificate)])}
${problem && panel('problems', 'What is wrong now', problemList([problem], nowMs, appliance))}`;
}

function facts({ kind, commonName, issuer, state, notBeforeSeconds, notAfterSeconds }: CertificateStatus): Markup {
  return html`<dl class="facts-list">
<div><dt>Name</dt><dd><bdi>${commonName || 'unknown'}</bdi></dd></div>
<div><dt>Issued by</dt><dd><bdi>${issuer || 'unknown'}</bdi></dd></div>
<div><dt>Valid from</dt><dd>${dayOf(notBeforeSeconds)}</dd></div>
<div><dt>Valid until</dt><dd>${dayOf(notAfterSeconds)}</dd></div>
<div><dt>The appliance calls it</dt><dd>${kind === 'csr' ? 'a request' : wordOf(state)}</dd></div>
</dl>`;
}

function dayOf(seconds: number | undefined): string {
  return (
    (seconds !== undefined &&
      isoTime(seconds * 1_000)
        ?.replace('T', ' ')
        .replace('Z', ' UTC')) ||
    'unknown'
  );
}

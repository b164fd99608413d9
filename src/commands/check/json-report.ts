import type { ConfigError, ConfigProblem } from '../../config/problems.ts';
import { oneLine } from '../../lib/text.ts';
import type { Shell } from '../command.ts';
import type { Finding } from './failure-finding.ts';
import { addressOf, type ApplianceCheck, clockOffsetOf } from './probe.ts';
import { type Report, trustOf } from './report.ts';

/** The output of `check --json`; docs/operations.md explains it. Unknown is null. */
interface CheckDocument {
  /** True if the exporter starts with this configuration. */
  readonly valid: boolean;
  readonly exit_code: number;
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly string[];
  readonly appliances: readonly ApplianceDocument[];
}

type ApplianceDocument = ReturnType<typeof documentOf>;

/** Creates the report for programs: one document at the end. */
export function createJsonReport(shell: Pick<Shell, 'write'>): Report {
  const warnings: string[] = [];
  const appliances: ApplianceDocument[] = [];
  return {
    note({ text, isWrong = false }) {
      if (isWrong) warnings.push(text.trim());
    },
    appliance: (checked, findings) => void appliances.push(documentOf(checked, findings)),
    async end(code) {
      await write({ valid: true, exit_code: code, problems: [], warnings, appliances }, shell);
      return code;
    },
  };
}

/** Writes the document about a configuration that was refused. */
export async function writeRefusal({ problems }: ConfigError, shell: Pick<Shell, 'write'>): Promise<void> {
  await write({ valid: false, exit_code: 2, problems, warnings: [], appliances: [] }, shell);
}

async function write(document: CheckDocument, { write }: Pick<Shell, 'write'>): Promise<void> {
  await write(Buffer.from(`${JSON.stringify(document, null, 2)}\n`));
}

function documentOf(checked: ApplianceCheck, findings: readonly Finding[]) {
  const { appliance, probe, settings } = checked;
  const { failure, facts, perMinute } = probe;
  return {
    name: appliance.name,
    address: addressOf(appliance).text,
    ok: failure === undefined,
    failure: failure ? { reason: failure.reason, message: oneLine(failure.message, 250) } : null,
    certificate: certificateOf(checked),
    product: facts.product ?? null,
    edition: facts.edition ?? null,
    release: facts.version ?? null,
    licensed: facts.licensed ?? null,
    farms: facts.farms?.length ?? null,
    clock_offset_seconds: clockOffsetOf(probe.calls) ?? null,
    collectors: {
      polled: probe.polled,
      unsupported: probe.unsupported,
      failed: probe.obstacles.map(({ collector, reason, message }) => ({ collector, reason: reason ?? null, message })),
    },
    cost: failure
      ? null
      : {
          calls_per_minute: perMinute.calls,
          busy_ratio: perMinute.seconds / 60,
          max_busy_ratio: settings.polling.maxBusyRatio,
        },
    probes:
      checked.farmProbes?.map(({ farm, address, isReachable = null, failure = null }) => ({
        farm,
        address,
        reachable: isReachable,
        failure,
      })) ?? null,
    findings: findings.map(({ text, remedy }) => ({ text, remedy: remedy.map((line) => line.trim()) })),
  };
}

function certificateOf(checked: ApplianceCheck) {
  const { shown } = checked;
  if (!shown) return null;
  return {
    trust: trustOf(checked),
    fingerprint_sha256: shown.fingerprintSha256,
    subject: shown.subject,
    issuer: shown.issuer,
    not_after: new Date(shown.endsAtMs).toISOString(),
  };
}

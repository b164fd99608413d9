import type { ConfigProblem } from '../../config/problems.ts';
import { oneLine } from '../../lib/text.ts';
import type { Shell } from '../command.ts';
import type { Finding } from './findings.ts';
import { type ApplianceCheck, clockOffsetOf } from './probe.ts';
import { type CheckReport, trustOf } from './report.ts';

/**
 * Creates the report for programs: one document at the end, where unknown is null.
 * docs/command-line.md explains it.
 */
export function createJsonReport(shell: Pick<Shell, 'write'>): CheckReport {
  const warnings: string[] = [];
  const appliances: ReturnType<typeof documentOf>[] = [];
  const write = (valid: boolean, code: number, problems: readonly ConfigProblem[]): Promise<void> => {
    const document = { valid, exit_code: code, problems, warnings, appliances };
    return shell.write(Buffer.from(`${JSON.stringify(document, null, 2)}\n`));
  };
  return {
    note({ text, isWrong = false }) {
      if (isWrong) warnings.push(text.trim());
    },
    appliance: (checked, findings) => void appliances.push(documentOf(checked, findings)),
    end: (code) => write(true, code, []),
    refuse: ({ problems }) => write(false, 2, problems),
  };
}

function documentOf(checked: ApplianceCheck, findings: readonly Finding[]) {
  const { appliance, address, probe, settings, shown } = checked;
  const { failure, facts, perMinute } = probe;
  return {
    name: appliance.name,
    address: address.text,
    ok: failure === undefined,
    failure: failure ? { reason: failure.reason, message: oneLine(failure.message, 250) } : null,
    certificate: shown
      ? {
          trust: trustOf(checked),
          fingerprint_sha256: shown.fingerprintSha256,
          subject: shown.subject,
          issuer: shown.issuer,
          // A certificate may have any text for a date.
          not_after: Number.isNaN(shown.endsAtMs) ? null : new Date(shown.endsAtMs).toISOString(),
        }
      : null,
    product: facts.product ?? null,
    edition: facts.edition ?? null,
    release: facts.version ?? null,
    licensed: facts.isActivated ?? null,
    farms: facts.farms?.length ?? null,
    clock_offset_seconds: clockOffsetOf(probe.calls) ?? null,
    collectors: {
      polled: probe.polled,
      unsupported: probe.unsupported,
      failed: probe.collectorFailures.map(({ collector, reason, message }) => ({
        collector,
        reason: reason ?? null,
        message,
      })),
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

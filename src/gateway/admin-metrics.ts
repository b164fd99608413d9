import { Counter, Gauge, type Registry } from 'prom-client';
import type { Overridden } from './guards/guard.ts';
import type { ProblemCode } from './problem.ts';

/** The metrics of the gateway; an unknown label is empty. */
export interface AdminMetrics {
  /** Counts an answer; `endpoint` is a route template, never a path. */
  answered(call: { appliance: string; endpoint: string; method: string; code: string }): void;
  denied(call: { appliance: string; principal: string; reason: ProblemCode }): void;
  /** Counts each guard that a call overrode. */
  overridden(appliance: string, overridden: Overridden): void;
  auditWritten(records: number, atMs: number): void;
  auditFailed(): void;
  /** Sets the numbers of open change requests by state, and of those that wait for long. */
  changeRequests(open: ReadonlyMap<string, number>, late: number): void;
  /** Removes these numbers: the gateway is off. */
  noChangeRequests(): void;
  /** Counts the end of a change request, or what became of a proposal instead. */
  changeRequestEnded(outcome: string): void;
  /** Sets the freeze; undefined while the gateway is off. */
  frozen(state: boolean | undefined): void;
}

/** Names and help texts, for the exposition and for the documentation. */
export const adminMetricFamilies = {
  requests: {
    name: 'zlb_admin_requests_total',
    help: 'Requests to the admin gateway by what they were answered with (this exporter).',
    labelNames: ['appliance', 'endpoint', 'method', 'code'],
  },
  denied: {
    name: 'zlb_admin_denied_total',
    help: 'Requests that the admin gateway refused, by the code of the refusal (this exporter).',
    labelNames: ['appliance', 'principal', 'reason'],
  },
  overridden: {
    name: 'zlb_admin_guards_overridden_total',
    help: 'Blocking findings of a guard that a call went through in spite of, by X-Force or by the option guards: warn of its token (this exporter).',
    labelNames: ['appliance', 'guard', 'by'],
  },
  records: {
    name: 'zlb_admin_audit_records_total',
    help: 'Lines written to the audit (this exporter).',
  },
  failures: {
    name: 'zlb_admin_audit_write_failures_total',
    help: 'Attempts to write to the audit that failed; changes are refused meanwhile (this exporter).',
  },
  lastWrite: {
    name: 'zlb_admin_audit_last_write_timestamp_seconds',
    help: 'Unix time at which the audit was last written (this exporter).',
  },
  changeRequests: {
    name: 'zlb_admin_change_requests',
    help: 'Change requests that are open, by state (this exporter).',
    labelNames: ['state'],
  },
  changeRequestsLate: {
    name: 'zlb_admin_change_requests_late',
    help: 'Change requests that have waited for more than half of their time (this exporter).',
  },
  changeRequestEnds: {
    name: 'zlb_admin_change_requests_total',
    help: 'Change requests that are over, by outcome; suppressed: not proposed, since too many are open; break_glass: calls that were sent without approval (this exporter).',
    labelNames: ['outcome'],
  },
  frozen: {
    name: 'zlb_admin_frozen',
    help: '1 while all changes are frozen (this exporter).',
  },
} as const;

export function createAdminMetrics(registry: Registry): AdminMetrics {
  const registers = [registry];
  const { requests, denied, overridden, records, failures, lastWrite, frozen } = adminMetricFamilies;
  const { changeRequests, changeRequestsLate, changeRequestEnds } = adminMetricFamilies;
  const requestCounter = new Counter({ ...requests, labelNames: [...requests.labelNames], registers });
  const deniedCounter = new Counter({ ...denied, labelNames: [...denied.labelNames], registers });
  const overriddenCounter = new Counter({ ...overridden, labelNames: [...overridden.labelNames], registers });
  const recordCounter = new Counter({ ...records, registers });
  const failureCounter = new Counter({ ...failures, registers });
  const lastWriteGauge = new Gauge({ ...lastWrite, registers });
  const changeRequestGauge = new Gauge({ ...changeRequests, labelNames: [...changeRequests.labelNames], registers });
  const lateGauge = new Gauge({ ...changeRequestsLate, registers });
  const endCounter = new Counter({ ...changeRequestEnds, labelNames: [...changeRequestEnds.labelNames], registers });
  const frozenGauge = new Gauge({ ...frozen, registers });
  // prom-client starts a gauge at 0, which would mean a write in 1970.
  lastWriteGauge.remove();
  lateGauge.remove();

  return {
    answered: (call) => requestCounter.inc(call),
    denied: (call) => deniedCounter.inc(call),
    overridden(appliance, { forced = [], warned = [], break_glass: breakGlass = false }) {
      if (breakGlass) endCounter.inc({ outcome: 'break_glass' });
      for (const guard of forced) overriddenCounter.inc({ appliance, guard, by: 'force' });
      for (const guard of warned) overriddenCounter.inc({ appliance, guard, by: 'token' });
    },
    auditWritten(count, atMs) {
      recordCounter.inc(count);
      lastWriteGauge.set(atMs / 1_000);
    },
    auditFailed: () => failureCounter.inc(),
    changeRequests(open, late) {
      for (const [state, count] of open) changeRequestGauge.set({ state }, count);
      lateGauge.set(late);
    },
    noChangeRequests() {
      changeRequestGauge.reset();
      lateGauge.remove();
    },
    changeRequestEnded: (outcome) => endCounter.inc({ outcome }),
    frozen: (state) => (state === undefined ? frozenGauge.remove() : frozenGauge.set(state ? 1 : 0)),
  };
}

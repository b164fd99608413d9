import { Counter, Gauge, type Registry } from 'prom-client';
import type { Overridden } from '../policy/guards/guard.ts';
import type { ProblemCode } from '../policy/problem.ts';

/** Names and help texts, for the exposition and for the documentation. */
export const adminMetricFamilies = {
  requests: {
    name: 'zlb_admin_requests_total',
    help: 'Requests to the admin gateway by their answers, dry runs included (this exporter).',
    labelNames: ['appliance', 'endpoint', 'method', 'code'],
  },
  calls: {
    name: 'zlb_admin_calls_total',
    help: 'Changes that the gateway sent to appliances, by their answers (this exporter).',
    labelNames: ['appliance', 'endpoint', 'method', 'code'],
  },
  denied: {
    name: 'zlb_admin_denied_total',
    help: 'Requests that the admin gateway refused, by the code of the refusal; tls: connections (this exporter).',
    labelNames: ['appliance', 'principal', 'reason'],
  },
  overridden: {
    name: 'zlb_admin_guards_overridden_total',
    help: 'Findings of a guard that a call overrode, by X-Force or by guards: warn (this exporter).',
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
  changesOpen: {
    name: 'zlb_admin_changes_open',
    help: 'Changes that are open, by state (this exporter).',
    labelNames: ['state'],
  },
  changesLate: {
    name: 'zlb_admin_changes_late',
    help: 'Changes that have waited for more than half of their time (this exporter).',
  },
  changeEnds: {
    name: 'zlb_admin_changes_total',
    help: 'Changes that are over, by outcome; beside them, break_glass counts calls that were sent without approval, and suppressed alerts that found too many changes open (this exporter).',
    labelNames: ['outcome'],
  },
  frozen: {
    name: 'zlb_admin_frozen',
    help: '1 while all changes are frozen (this exporter).',
  },
  keyAccepted: {
    name: 'zlb_admin_key_accepted',
    help: "1 if the appliance accepted the gateway's own key when it was last tried, after the start and each six hours; 0 if not (this exporter).",
    labelNames: ['appliance'],
  },
} as const;

/** A response; a type, so that prom-client accepts it as labels. */
type AnsweredCall = Readonly<{
  appliance: string;
  /** A route template, never a path. */
  endpoint: string;
  method: string;
  code: string;
}>;

/**
 * Series of requests at most; others are counted without their endpoint. A token may ask for each
 * of hundreds of operations on each appliance, and series stay until the next start.
 */
export const maxRequestSeries = 10_000;

/** The metrics of the gateway; an unknown label is empty. */
export type AdminMetrics = ReturnType<typeof createAdminMetrics>;

export function createAdminMetrics(registry: Registry) {
  const registers = [registry];
  const families = adminMetricFamilies;
  const requests = new Counter({ ...families.requests, registers });
  const calls = new Counter({ ...families.calls, registers });
  const denials = new Counter({ ...families.denied, registers });
  const overrides = new Counter({ ...families.overridden, registers });
  const records = new Counter({ ...families.records, registers });
  const failures = new Counter({ ...families.failures, registers });
  const lastWrite = new Gauge({ ...families.lastWrite, registers });
  const openChanges = new Gauge({ ...families.changesOpen, registers });
  const lateChanges = new Gauge({ ...families.changesLate, registers });
  const ends = new Counter({ ...families.changeEnds, registers });
  const frozenGauge = new Gauge({ ...families.frozen, registers });
  const keys = new Gauge({ ...families.keyAccepted, registers });
  // prom-client starts a gauge at 0, which would mean a write in 1970.
  lastWrite.remove();
  lateChanges.remove();

  const known = new Set<string>();
  /** Returns true for labels that are known, or may still be. */
  function isCounted({ appliance, endpoint, method, code }: AnsweredCall): boolean {
    const key = [appliance, endpoint, method, code].join(' ');
    if (known.size < maxRequestSeries) known.add(key);
    return known.has(key);
  }

  return {
    countResponse: (call: AnsweredCall) => requests.inc(isCounted(call) ? call : { ...call, endpoint: '' }),
    /** Counts a response of an appliance to a call that changes something, or what replaces it. */
    countCall: (call: AnsweredCall) => calls.inc(call),
    countDenied: (call: { appliance: string; principal: string; reason: ProblemCode | 'tls' }) => denials.inc(call),
    /** Counts each guard that a call overrode, and a missing approval. */
    countOverridden(appliance: string, { forced = [], warned = [], break_glass: breakGlass }: Overridden): void {
      if (breakGlass) ends.inc({ outcome: 'break_glass' });
      for (const guard of forced) overrides.inc({ appliance, guard, by: 'force' });
      for (const guard of warned) overrides.inc({ appliance, guard, by: 'token' });
    },
    recordAuditWrite(count: number, atMs: number): void {
      records.inc(count);
      lastWrite.set(atMs / 1_000);
    },
    countAuditFailure: () => failures.inc(),
    /** Sets the numbers of open changes by state, and of those that wait for long. */
    setOpenChanges(open: ReadonlyMap<string, number>, late: number): void {
      for (const [state, count] of open) openChanges.set({ state }, count);
      lateChanges.set(late);
    },
    /** Removes these numbers: the gateway is off. */
    clearOpenChanges(): void {
      openChanges.reset();
      lateChanges.remove();
    },
    /** Counts the end of a change, or what became of a proposal instead. */
    countChangeEnd: (outcome: string) => ends.inc({ outcome }),
    /** Sets what became of a try of a key; undefined if nothing is known now. */
    setKeyAccepted: (appliance: string, accepted: boolean | undefined) =>
      accepted === undefined ? keys.remove({ appliance }) : keys.set({ appliance }, Number(accepted)),
    /** Removes the keys: the gateway is off, or others are tried. */
    clearKeys: () => keys.reset(),
    /** Sets the freeze; undefined while the gateway is off. */
    setFrozen: (state: boolean | undefined) =>
      state === undefined ? frozenGauge.remove() : frozenGauge.set(state ? 1 : 0),
  };
}

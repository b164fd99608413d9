import { findingOf, overdue, problemsAbout, type Seen } from './exporter-reply.ts';
import { type Finding, NothingKnown, type CheckResult } from './check-result.ts';

/** Whether an appliance answers, and is read completely. */
export function checkAppliance(seen: Seen): CheckResult {
  const { appliance, nowMs } = seen;
  const { name, up, breaker, collectors } = appliance;
  if (up == null) throw new NothingKnown(`${name} has not answered since the exporter was started`);
  const supported = collectors.filter(({ isSupported }) => isSupported);
  if (supported.length === 0) throw new NothingKnown(`nothing is read from ${name}`);
  const late = supported.flatMap((each): readonly Finding[] => {
    const text = overdue(each, nowMs);
    // Just after a start of the exporter, nothing has failed.
    const isWaiting = each.lastSuccessMs == null && each.failure == null;
    return text === undefined ? [] : [{ state: isWaiting ? 'UNKNOWN' : 'WARNING', text }];
  });
  const refused = collectors.some(({ failure }) => failure?.reason === 'unauthorized');
  const findings: Finding[] = [...problemsAbout(seen, 'appliance'), ...problemsAbout(seen, 'activation')]
    .filter(({ level, alert }) => level === 'critical' || alert === 'ZlbApplianceDeactivated')
    .map(findingOf);
  if (refused) findings.push({ state: 'WARNING', text: `${name} refuses the API key` });
  else if (!up || breaker !== 'closed') findings.push({ state: 'WARNING', text: `${name} does not answer` });
  return {
    findings: [...findings, ...late],
    otherwise: `${name} answers, and all of its ${supported.length} readings are fresh`,
    measures: [
      { label: 'readings', value: supported.length },
      { label: 'overdue', value: late.length, warning: '0' },
    ],
  };
}

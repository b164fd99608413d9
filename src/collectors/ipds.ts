import { stateWord } from '../lib/states.ts';
import type { ApplianceWideCollector } from './collector.ts';
import { rowsOf } from './rows.ts';

interface IpdsRuleState {
  readonly rule: string;
  readonly kind: string;
  readonly state: string;
}

const ruleRows = rowsOf((list: readonly IpdsRuleState[]) => list, {
  rule: ({ rule }) => rule,
  kind: ({ kind }) => kind,
});

/**
 * Reads the rules of intrusion prevention. Off by default: few need it, and some releases list
 * thousands of rules.
 */
export const ipdsCollector: ApplianceWideCollector<readonly IpdsRuleState[]> = {
  name: 'ipds',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: false,
  optional: true,
  refreshedBy: ['ipds', 'ipds-blacklists', 'ipds-dos', 'ipds-rbl', 'ipds-waf', 'farm-ipds'],
  async collect({ read }) {
    const list = (await read('listIpds', {})).params;
    return list.map(({ name, rule, status }) => ({ rule: name, kind: rule ?? '', state: stateWord(status) }));
  },
  families: [
    ruleRows.stateSet(
      'zlb_ipds_rule_status',
      'State of an intrusion-prevention rule or set (GET /ipds, status).',
      ['up', 'down', 'unknown'],
      ({ state }) => state,
    ),
  ],
};

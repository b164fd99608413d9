import { stateSet } from '../metrics/family.ts';
import { type ApplianceCollector, stateWord } from './collector.ts';

const status = stateSet(
  'zlb_ipds_rule_status',
  'State of an intrusion-prevention rule or set (GET /ipds, status).',
  ['rule', 'kind'],
  ['up', 'down', 'unknown'],
);

/** Intrusion prevention; off unless asked for, since few watch it and some releases list thousands of rules. */
export const ipds: ApplianceCollector = {
  name: 'ipds',
  schedule: '0 */10 * * * *',
  maxStaleMs: 1_800_000,
  enabled: false,
  optional: true,
  touchedBy: ['ipds', 'ipds-blacklists', 'ipds-dos', 'ipds-rbl', 'ipds-waf', 'farm-ipds'],
  families: [status],
  async collect({ read }) {
    const list = (await read('listIpds', {})).params;
    return {
      expose: (emit) => {
        for (const each of list) emit.state(status, { rule: each.name, kind: each.rule ?? '' }, stateWord(each.status));
      },
    };
  },
};

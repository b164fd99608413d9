import { writeFileSync } from 'node:fs';
import { prometheusRule } from './prometheus-rule.ts';
import { readRuleFiles } from './rule-files.ts';

writeFileSync(
  new URL('../deploy/kubernetes/components/prometheus-operator/prometheus-rule.yml', import.meta.url),
  prometheusRule(readRuleFiles()),
);

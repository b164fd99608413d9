import { readFileSync, writeFileSync } from 'node:fs';
import { prometheusRule } from './prometheus-rule.ts';

const pathOf = (file: string): URL => new URL(`../${file}`, import.meta.url);

writeFileSync(
  pathOf('deploy/kubernetes/components/prometheus-operator/prometheus-rule.yml'),
  prometheusRule(readFileSync(pathOf('alerts/zlb.rules.yml'), 'utf8')),
);

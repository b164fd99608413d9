import { writeFileSync } from 'node:fs';
import { readRuleFiles } from './rule-files.ts';

/**
 * Returns the rule files as the Prometheus Operator reads them; their text stays as it is, with its
 * comments.
 */
export function prometheusRule(files: readonly string[]): string {
  const groups = files
    .map((text) => text.slice(/^groups:\n/m.exec(text)?.index).replace(/^groups:\n/, ''))
    .join('\n')
    // The Operator takes an expression as a text or a whole number; 0.75 it refuses.
    .replaceAll(/(?<=\bexpr: )[\d.]+(?= *\}?$)/gm, "'$&'")
    .replaceAll(/^(?=.)/gm, '  ');
  return `# Written by \`npm run manifests\` from alerts/*.rules.yml; change it there.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: zlb-exporter
  labels: { app.kubernetes.io/name: zlb-exporter }
spec:
  groups:
${groups}`;
}

if (import.meta.main)
  writeFileSync(
    new URL('../deploy/kubernetes/components/prometheus-operator/prometheus-rule.yml', import.meta.url),
    prometheusRule(readRuleFiles()),
  );

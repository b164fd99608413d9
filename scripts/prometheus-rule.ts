/** The rules as the Prometheus Operator reads them; their text stays as it is, with its comments. */
export function prometheusRule(rules: string): string {
  const groups = rules
    .slice(rules.search(/^groups:/m))
    // The Operator takes an expression as a text or a whole number; 0.75 it refuses.
    .replaceAll(/(?<=\bexpr: )[\d.]+(?= *\}?$)/gm, "'$&'")
    .replaceAll(/^(?=.)/gm, '  ');
  return `# Written by \`npm run manifests\` from alerts/zlb.rules.yml; change it there.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: zlb-exporter
  labels: { app.kubernetes.io/name: zlb-exporter }
spec:
${groups}`;
}

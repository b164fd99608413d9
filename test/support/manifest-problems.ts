import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { ScrapeConfig } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1alpha1/ScrapeConfig';

/** Every kind that deploy/kubernetes has. */
const models = {
  ConfigMap,
  Deployment,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  PrometheusRule,
  ScrapeConfig,
  Service,
  ServiceAccount,
  ServiceMonitor,
  StatefulSet,
} as const;

export type Kind = keyof typeof models;
export type Manifest<K extends Kind = Kind> = InstanceType<(typeof models)[K]>;

interface Document {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/**
 * Returns the complaints of the schemas of Kubernetes and of the Prometheus Operator about a
 * manifest, and its unknown keys.
 */
export function problemsOf(manifest: Document): readonly string[] {
  const { refusal, unknown } = look(manifest);
  return refusal === undefined ? unknown : [refusal];
}

/**
 * The keys of a patch that its kind does not know; a patch may leave out what the whole has to
 * have.
 */
export function unknownKeysOf(patch: Document): readonly string[] {
  return look(patch).unknown;
}

function look(manifest: Document): { readonly refusal: string | undefined; readonly unknown: readonly string[] } {
  const { apiVersion, kind } = manifest;
  const Model = Object.values(models).find((each) => each.apiVersion === apiVersion && each.kind === kind);
  if (!Model) return { refusal: undefined, unknown: [`${apiVersion} ${kind} is not known here; add its model`] };
  const unread = new Set<string>();
  const model = watched(Object.assign(new Model(), manifest), '', unread);
  const refusal = refusalOf(model);
  // The schemas permit unknown keys. They read known ones, so a key that was not read is a mistake.
  const topmost = [...unread].filter((path) => !unread.has(path.replace(/\/[^/]*$/, '')));
  return { refusal, unknown: topmost.map((path) => `${path} is no key of ${kind}`) };
}

function refusalOf(model: Manifest): string | undefined {
  try {
    model.validate();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** The same value, which takes out of `unread` what is asked for. */
function watched<Value extends object>(value: Value, path: string, unread: Set<string>): Value {
  for (const key of Object.keys(value)) unread.add(`${path}/${key}`);
  const parts = new Map(
    Object.entries(value).map(([key, part]: [string, unknown]) => [
      key,
      typeof part === 'object' && part !== null ? watched(part, `${path}/${key}`, unread) : part,
    ]),
  );
  return new Proxy(value, {
    get(target, key) {
      if (typeof key !== 'string' || !parts.has(key)) return Reflect.get(target, key) as unknown;
      unread.delete(`${path}/${key}`);
      return parts.get(key);
    },
  });
}

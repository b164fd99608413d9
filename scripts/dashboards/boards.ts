import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { admin } from './admin.ts';
import { appliance } from './appliance.ts';
import { certificates } from './certificates.ts';
import { exporter } from './exporter.ts';
import { farm } from './farm.ts';
import { fleet } from './fleet.ts';

/** THE LIST. */
export function boards(): readonly Dashboard[] {
  return [fleet, appliance, farm, certificates, exporter, admin].map((create) => create());
}

/** A fleet of simulated appliances that are all alike. */
export interface FleetSize {
  readonly appliances: number;
  readonly farms: number;
  readonly backendsPerFarm: number;
}

/** 100 × 50 × 4, as people say it. */
export function sizeText({ appliances, farms, backendsPerFarm }: FleetSize): string {
  return `${appliances.toLocaleString('en')} appliances × ${farms} farms × ${backendsPerFarm} backends`;
}

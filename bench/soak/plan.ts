import type { ApplianceToStart } from './appliance-process.ts';
import { adminKeyOf, apiKeyOf } from './configuration.ts';

/** Who is there, and what happens to whom. */
export interface Plan {
  readonly toStart: readonly ApplianceToStart[];
  /** In the configuration from the beginning; the others are added in the part with reloads. */
  readonly configured: readonly string[];
  /** Nothing ever happens to them: two in ten. */
  readonly control: readonly string[];
  /** The others of those that are configured: random faults are theirs. */
  readonly faulty: readonly string[];
  /** All of these have the same trouble at once, and are changed by reloads: three in ten. */
  readonly troubled: readonly string[];
  readonly untroubled: readonly string[];
  readonly spare: readonly string[];
}

/** A tenth more than are configured can be added later. */
export function planAppliances(count: number): Plan {
  const all = Array.from({ length: count + Math.ceil(count / 10) }, (_, index) => index);
  const named = (chosen: (index: number) => boolean): string[] => all.filter(chosen).map(nameOf);
  return {
    toStart: all.map(applianceToStart),
    configured: named((index) => index < count),
    control: named((index) => index < count && index % 10 >= 8),
    faulty: named((index) => index < count && index % 10 < 8),
    troubled: named((index) => index < count && index % 10 < 3),
    untroubled: named((index) => index < count && index % 10 >= 3),
    spare: named((index) => index >= count),
  };
}

function nameOf(index: number): string {
  return `lb-${String(index + 1).padStart(3, '0')}`;
}

/** Every fifth one is large; some show their own keys where names should be. */
function applianceToStart(index: number): ApplianceToStart {
  const name = nameOf(index);
  return {
    name,
    farms: index % 5 === 4 ? 20 : 2 + (index % 4),
    backendsPerFarm: 2 + (index % 5),
    pollingKey: apiKeyOf(name),
    adminKey: adminKeyOf(name),
    planted: index % 10 === 1 ? [apiKeyOf(name)] : index % 10 === 2 ? [adminKeyOf(name)] : [],
  };
}

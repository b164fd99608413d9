import { setTimeout as delay } from 'node:timers/promises';

/** The slowest of some evaluations. */
export interface RuleTime {
  readonly name: string;
  readonly seconds: number;
  /** How many it has; 0 for a recording. */
  readonly alerts: number;
}

export interface GroupTime {
  readonly name: string;
  readonly seconds: number;
  readonly rules: readonly RuleTime[];
}

interface Group {
  readonly name: string;
  readonly evaluationTime: number;
  readonly rules: readonly {
    readonly name: string;
    readonly evaluationTime: number;
    readonly lastError?: string;
    readonly alerts?: readonly unknown[];
  }[];
}

/**
 * Waits for that many evaluations of every group that begin after now; resolves with the slowest of each group and of each
 * rule.
 */
export async function slowestEvaluations(prometheus: string, evaluations: number): Promise<readonly GroupTime[]> {
  const looks: (readonly Group[])[] = [];
  let seenSeconds: ReadonlyMap<string, number> = new Map();
  const nowSeconds = Date.now() / 1_000;
  while (looks.length < evaluations) {
    await delay(500);
    const last = await lastEvaluations(prometheus);
    if (![...last].every(([group, seconds]) => seconds > (seenSeconds.get(group) ?? nowSeconds))) continue;
    looks.push(await rules(prometheus));
    seenSeconds = last;
  }
  return (looks.at(-1) ?? []).map((group, place) => ({
    name: group.name,
    seconds: slowest(looks.map((groups) => groups[place]?.evaluationTime)),
    rules: group.rules.map(({ name, alerts }, index) => ({
      name,
      seconds: slowest(looks.map((groups) => groups[place]?.rules[index]?.evaluationTime)),
      alerts: alerts?.length ?? 0,
    })),
  }));
}

/**
 * When the last evaluation of each group began that has ended. /api/v1/rules tells that too, but with all alerts, which
 * costs Prometheus time.
 */
async function lastEvaluations(prometheus: string): Promise<ReadonlyMap<string, number>> {
  const page = await (await fetch(`${prometheus}/metrics`)).text();
  const metric = /^prometheus_rule_group_last_evaluation_timestamp_seconds\{rule_group="(.*)"\} (\S+)$/gm;
  return new Map([...page.matchAll(metric)].map(([, group = '', seconds]) => [group, Number(seconds)]));
}

async function rules(prometheus: string): Promise<readonly Group[]> {
  const { data } = (await (await fetch(`${prometheus}/api/v1/rules`)).json()) as { data: { groups: readonly Group[] } };
  for (const { name, lastError } of data.groups.flatMap((group) => group.rules))
    if (lastError) throw new Error(`Prometheus could not evaluate ${name}: ${lastError}`);
  return data.groups;
}

function slowest(times: readonly (number | undefined)[]): number {
  return Math.max(...times.map((time) => time ?? Number.NaN));
}

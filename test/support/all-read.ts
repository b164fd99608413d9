import { until } from './until.ts';

interface Status {
  readonly appliances: readonly {
    readonly collectors: readonly {
      readonly ok?: boolean | null;
      readonly isSupported: boolean;
      readonly failure?: unknown;
    }[];
  }[];
}

/** Waits until every collector ran or was skipped; `/-/ready` waits for the first group only. */
export async function untilAllRead(url: string): Promise<void> {
  await until(
    async () => ((await (await fetch(`${url}/api/status`)).json()) as Status).appliances,
    (appliances) =>
      appliances.every(({ collectors }) =>
        collectors.every(
          ({ ok, isSupported, failure }) => typeof ok === 'boolean' || !isSupported || failure !== undefined,
        ),
      ),
  );
}

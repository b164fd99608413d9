import type { Operations } from '../../admin/operation.ts';
import type { CommandContext } from '../command.ts';
import type { GatewayClient } from './gateway-client.ts';

/** The parts that every admin command needs: flags, terminal, gateway client, clock. */
export interface AdminSession extends Pick<CommandContext, 'flags' | 'say' | 'warn' | 'shell'> {
  readonly client: GatewayClient;
  readonly operations: Operations;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Rejects when the process is asked to stop. */
  readonly sleep: (ms: number) => Promise<void>;
}

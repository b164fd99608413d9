import { confirmationOf } from '../../admin/confirmation.ts';
import type { OperationCall } from '../../admin/operation.ts';
import { oneLine } from '../../lib/one-line.ts';
import { optionalFlag, type Shell, UsageError } from '../command.ts';
import { AdminError } from './admin-error.ts';
import type { AdminSession } from './session.ts';

/** What confirms a call: the flag, or what a person types; undefined for a call that needs none. */
export async function confirmationFor(
  call: OperationCall,
  appliance: string,
  { flags, shell }: Pick<AdminSession, 'flags' | 'shell'>,
): Promise<string | undefined> {
  const given = optionalFlag(flags, 'confirm');
  const { required, expected } = confirmationOf(call, appliance);
  if (given !== undefined || !required) return given;
  const { key } = call.operation;
  const [name = ''] = expected;
  if (!shell.ask)
    throw new UsageError(`${key} cannot be undone; repeat it with --confirm=${oneLine(name, 200)} if you mean it`);
  const typed = await shell.ask(
    `${key} on ${oneLine(appliance, 64)} cannot be undone. Type ${oneLine(name, 200)} to confirm: `,
  );
  if (expected.includes(typed.trim())) return typed.trim();
  throw new AdminError('Not confirmed', { detail: 'Nothing was sent.', remedy: 'Repeat it if you mean it.' });
}

/** Whether a person agrees to what was just shown. */
export async function wantsToGoOn(ask: NonNullable<Shell['ask']>): Promise<boolean> {
  return /^y(?:es)?$/i.test((await ask('\nGo on? [y/N] ')).trim());
}

import { expect, it } from 'vitest';
import { runCommandLine } from '../../../../src/cli.ts';
import { givenContext } from '../given-command.ts';

const restart = ['admin', 'lb-1', 'restart-farm', 'farm=payments'];
const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--reason=TICKET-42'];
const canary = 'Canary"0123456789';

/** A command that asked the gateway would end with 1: nobody listens there. */
async function typed(words: readonly string[]) {
  const env = { ZLB_ADMIN_URL: 'http://127.0.0.1:1', ZLB_ADMIN_TOKEN: 'token' };
  const { context, warned } = givenContext({ env });
  const code = await runCommandLine(words, context);
  return { code, err: warned.join('\n') };
}

it.each([
  [['admin', 'whoami', '--dry-run'], '--dry-run is not valid with admin whoami'],
  [['admin', 'freeze', 'lb-1', '--reason=x'], 'admin freeze takes no more arguments'],
  [['admin', 'lb-1'], 'admin "lb-1" is not complete'],
  [['admin', 'lb-1', 'listFarms', '--wait=5m'], '--wait is not valid with a single operation'],
  [['admin', 'lb-1', 'backup', '--json'], '--json is not valid with the recipe backup'],
  [['admin', 'lb-1', 'restart-farm', 'farm=a', 'farm=b', '--reason=x'], 'farm is given twice; leave one out'],
  [['admin', 'lb-1', 'backup', '--yes'], 'a change needs a reason'],
  [['admin', 'parameters'], 'the appliance and the operation are missing'],
  [['admin', 'parameters', 'lb-1'], 'the operation is missing: admin parameters lb-1 OPERATION'],
  [['admin', 'parameters', 'createFarm'], 'the appliance is missing: admin parameters APPLIANCE createFarm'],
  [['admin', 'parameters', 'lb-1', 'uploadBackup', 'name=x'], 'uploadBackup takes a file and no parameters'],
  [
    ['admin', 'lb-1', 'restart-fram', 'farm=shop'],
    'there is no recipe or operation "restart-fram"; did you mean restart-farm?',
  ],
  [['admin', 'lb-1', 'actOnFram'], 'there is no recipe or operation "actOnFram"; did you mean actOnFarm?'],
  [
    ['admin', 'lb-1', 'replace-certificate', 'farm=shop', 'file=x', '--ask', '--reason=x'],
    'takes a file, which is not kept',
  ],
  [['admin', 'lb-1', 'uploadBackup', 'name=x', '--body=-', '--ask', '--reason=x'], 'takes a file'],
  [[...restart, '--ask', '--dry-run'], '--dry-run is not valid with asking for restart-farm'],
  [[...stop, '--ask', '--output=x'], '--output is not valid with asking for an operation'],
  [[...restart, '--ask'], 'a change needs a reason'],
  [['admin', 'changes', 'approve'], 'the id is missing: admin changes approve ID'],
  [['admin', 'changes', 'ch-1'], 'admin changes show ID'],
  [['admin', 'changes', 'show', 'ch-1', 'ch-2'], 'takes no more arguments'],
  [['admin', 'changes', 'show', 'ch-1', '--yes'], '--yes is not valid with admin changes show'],
  [['admin', 'whoami', '--ask'], '--ask is not valid with admin whoami'],
  [['deliver'], 'which certificate? Give --cert=FULLCHAIN and --key=KEY'],
  [['deliver', '--cert=fullchain.pem'], '--cert and --key go together'],
  [['deliver', 'full_chain.pem', 'priv_key.pem'], 'deliver takes flags only'],
  [['deliver', 'deploy_cert', 'shop.example.com', 'priv.pem'], 'deploy_cert needs what dehydrated gives it'],
])('the command line %j is refused before anything is sent', async (words, message) => {
  expect(await typed(words)).toEqual({ code: 2, err: expect.stringContaining(message) });
});

it.each([
  ['admin', `password=${canary}`],
  ['admin', 'lb-1', `password=${canary}`, 'listFarms'],
  ['admin', 'lb-1', 'PUT', `/system/nothing?password=${canary}`],
  ['admin', 'lb-1', 'setEmailSettings', canary],
  ['admin', 'lb-1', 'setEmailSettings', `password:=${canary}`],
  ['admin', 'lb-1', 'setEmailSettings', `password=${canary}`, `password=${canary}`],
])('a password is not repeated in the error message for %j %j', async (...words) => {
  expect(await typed(words)).toEqual({ code: 2, err: expect.not.stringContaining('Canary') });
});

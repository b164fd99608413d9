import type { Static } from 'typebox';
import { AppliancesSchema } from '../../admin/http/openapi/gateway-schemas.ts';
import { adminCommand, globMatcher, oneLine } from '../../lib/text.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { AdminError, cannot } from '../../admin/policy/admin-error.ts';
import { parseJson } from '../../lib/check.ts';
import { type CallOptions, type Calls, readReply, type Write } from '../../admin/recipes/calls.ts';
import { objectionLines } from '../admin/dry-run-lines.ts';
import type { FarmState } from '../../admin/recipes/restart-farm.ts';
import { tableLines } from '../table.ts';
import { dryRunSteps, recipeContext, type WritingContext } from '../admin/run-recipe.ts';
import { type AdminSession, isAbort, withSession } from '../admin/session.ts';
import { farmCertificates } from '../../admin/recipes/certificate-steps.ts';
import { type FarmDelivery, type Kept, keyTypeOf, planDelivery } from '../../admin/recipes/delivery.ts';
import { type Before, putBack } from './put-back.ts';
import type { Renewed } from '../../admin/recipes/renewed.ts';
import { readRenewed, sourceOf } from './source.ts';
import { lookAtServed, type Reach } from './served.ts';

/** The farms of an appliance that use the certificate, and how to call it. */
interface Target {
  readonly context: WritingContext;
  readonly reach: Reach | undefined;
  readonly deliveries: readonly FarmDelivery[];
}

/** A line of the table at the end. */
interface Outcome {
  readonly appliance: string;
  readonly farm: string;
  readonly result:
    | 'delivered'
    | 'has it already'
    | 'would be delivered'
    | 'failed'
    | 'not tried'
    | 'other key type'
    | 'other names';
  readonly detail: string;
}

/** Brings a renewed certificate to every farm that uses its predecessor. */
export const deliver: Command = async (context) => {
  const { flags } = context;
  const source = sourceOf(context);
  if (source === undefined) return 0;
  if (flags.force && flags.reason === undefined)
    throw new UsageError('--force needs a reason for the audit: --reason=TEXT');
  return await withSession(context, async (session) =>
    deliverRenewed(await readRenewed(source, session.now()), session),
  );
};

/** Plans everything, then delivers one farm after the other, and stops at the first failure. */
async function deliverRenewed(renewed: Renewed, session: AdminSession): Promise<number> {
  const { flags, say } = session;
  const options: CallOptions = { reason: flags.reason ?? `deliver ${renewed.file}` };
  const { targets, others } = await planAll(renewed, options, session);
  say(`${renewed.file}: ${renewed.names.join(', ')}`);
  const outcomes = flags['dry-run']
    ? dryRun(targets, session)
    : await deliverAll(targets, renewed, { session, options });
  const rows = [...others, ...outcomes];
  say('');
  for (const line of tableLines(
    ['appliance', 'farm', 'result', 'detail'],
    rows.map(({ appliance, farm, result, detail }) => [appliance, farm, result, detail]),
  ))
    say(line);
  for (const line of leftovers(targets, outcomes)) say(line);
  return rows.some(({ result }) => result === 'failed' || result === 'not tried') ? 1 : 0;
}

/** Returns the commands that delete the old files, which appliances refuse while a farm has one. */
function leftovers(targets: readonly Target[], outcomes: readonly Outcome[]): readonly string[] {
  const commands = targets.flatMap(({ context, deliveries }) =>
    deliveries.flatMap(({ farm, replacement }) => {
      const { appliance } = context.calls;
      const isDone = outcomes.some(
        (each) => each.appliance === appliance && each.farm === farm.name && each.result === 'delivered',
      );
      const file = replacement?.old ?? '';
      return isDone ? [adminCommand(appliance, 'deleteCertificate', `file=${file}`, `--confirm=${file}`)] : [];
    }),
  );
  if (commands.length === 0) return [];
  return [
    '',
    'The old files stay in the store. Once nobody needs them:',
    ...[...new Set(commands)].map((each) => `  ${each}`),
  ];
}

/** A certificate that stays where it is. */
interface KeptOn extends Kept {
  readonly appliance: string;
}

interface Plans {
  readonly targets: readonly Target[];
  /** One for each appliance that cannot be planned, which does not keep the others waiting. */
  readonly failed: readonly Outcome[];
  readonly kept: readonly KeptOn[];
}

/**
 * Plans each appliance of the token: for the certificates with the same names or the same common
 * name, or else for those of one other set of names that the new one covers.
 */
async function planAll(
  renewed: Renewed,
  options: CallOptions,
  session: AdminSession,
): Promise<{ readonly targets: readonly Target[]; readonly others: readonly Outcome[] }> {
  const own = await planEach(renewed, options, session);
  const plans = coversOneOther(own) ? await planEach(renewed, options, session, true) : own;
  const { targets, failed } = plans;
  const given = keyTypeOf(renewed.certificate);
  const kept = plans.kept.map((each) => keptOutcome(each, given));
  if (isFound(plans)) return { targets, others: [...failed, ...kept] };
  const name = session.flags.replaces ?? renewed.names.join(', ');
  const otherKey = kept.find(({ result }) => result === 'other key type');
  if (otherKey && failed.length === 0)
    throw cannot(
      `${otherKey.farm} of ${otherKey.appliance} has a certificate for ${name}, but ${otherKey.detail}`,
      otherKeyRemedy(given),
    );
  if (failed.length + kept.length === 0)
    throw cannot(
      `No farm has a certificate for ${name}`,
      'Check the names and the token. --replaces=FILE names a predecessor with other names.',
    );
  return { targets, others: [...failed, ...kept.map((each) => ({ ...each, result: 'failed' as const }))] };
}

function isFound({ targets }: Plans): boolean {
  return targets.some(({ deliveries }) => deliveries.length > 0);
}

/**
 * Returns true if no predecessor was found, and certificates of one set of names would be covered.
 * Throws an AdminError for several sets: the new one can be the renewal of one of them only.
 */
function coversOneOther(plans: Plans): boolean {
  const covered = plans.kept.filter(({ lost, keyType }) => lost.length === 0 && keyType === undefined);
  const sets = new Set(covered.map(({ names }) => names.toSorted().join()));
  if (isFound(plans) || sets.size < 2) return sets.size === 1 && !isFound(plans);
  const each = covered.map(
    ({ appliance, farm, file, names }) => `${file} of ${appliance}/${farm}: ${names.join(', ')}`,
  );
  throw cannot(
    `The certificate covers several that have not the same names (${each.slice(0, 5).join('; ')})`,
    'Say which one goes: --replaces=FILE.',
  );
}

async function planEach(
  renewed: Renewed,
  options: CallOptions,
  session: AdminSession,
  alsoCovered = false,
): Promise<Plans> {
  const { only, replaces, force = false, 'change-key-type': changeKeyType = false } = session.flags;
  const [applianceGlob = '*', farmGlob = '*'] = only?.split('/', 2) ?? [];
  const wantsAppliance = globMatcher(applianceGlob);
  const wanted = { replaces, force, changeKeyType, alsoCovered, wants: globMatcher(farmGlob) };
  const targets: Target[] = [];
  const failed: Outcome[] = [];
  const kept: KeptOn[] = [];
  for (const { name: appliance, vip } of await appliancesOf(session)) {
    if (!wantsAppliance(appliance)) continue;
    const context = recipeContext(appliance, {}, session);
    const reach = vip && { connectTo: vip.connect_to, networks: vip.networks };
    try {
      const plan = await planDelivery(context, renewed, wanted);
      for (const delivery of plan.deliveries) await refuseRefused(delivery, context.calls, options);
      targets.push({ context, reach, deliveries: plan.deliveries });
      for (const each of plan.kept) kept.push({ appliance, ...each });
    } catch (error) {
      failed.push({ appliance, farm: '-', result: 'failed', detail: sentenceOf(error) });
    }
  }
  return { targets, failed, kept };
}

function keptOutcome({ appliance, farm, file, keyType, names, lost }: KeptOn, given: string): Outcome {
  if (keyType !== undefined) {
    const detail = `the key of ${file} is ${keyType}, and the key of the new certificate is ${given}`;
    return { appliance, farm, result: 'other key type', detail };
  }
  const detail =
    lost.length > 0
      ? `the certificate does not cover ${lost.join(', ')}, which ${file} of ${farm} covers. Renew it with all names. To deliver it nevertheless: --replaces=${file} --force --reason=TEXT`
      : `${file} is for ${names.join(', ')} alone, and may have a renewal of its own. To replace it: --replaces=${file}`;
  return { appliance, farm, result: 'other names', detail };
}

function otherKeyRemedy(given: string): string {
  const renew =
    given === 'ECDSA'
      ? 'Renew it with an RSA key (certbot: --key-type rsa; lego: --key-type rsa2048)'
      : 'Renew it with a key of the old type (certbot: --key-type; lego: --key-type)';
  return `${renew}. To change the type of the key, if all clients know the new one: --change-key-type.`;
}

/** Resolves to the appliances of the token. */
async function appliancesOf({ client }: AdminSession): Promise<Static<typeof AppliancesSchema>['appliances']> {
  const answer = parseJson(await (await client.send({ method: 'GET', path: '/appliances' })).whole());
  return readReply(AppliancesSchema, answer, 'The gateway answered with something else than its appliances').appliances;
}

/** Rejects with an AdminError when the gateway would refuse one of the calls. */
async function refuseRefused({ farm, steps }: FarmDelivery, calls: Calls, options: CallOptions): Promise<void> {
  for (const { step, dryRun } of await dryRunSteps(steps, calls, options)) {
    if (dryRun?.would === 'wait for approval') throw needsApproval(step.title);
    if (dryRun?.would !== 'be refused') continue;
    throw new AdminError(`The gateway refuses: ${step.title}`, {
      detail: objectionLines(dryRun).join(' ').trim(),
      remedy: `Nothing was changed. A guard is overridden with the recipe: replace-certificate farm=${farm.name} … --force.`,
    });
  }
}

function needsApproval(title: string): AdminError {
  return new AdminError(`This step needs approval: ${title}`, {
    detail: 'Each step needs approval whose risk is in admin.approvals.required_for, and a delivery cannot wait.',
    remedy: 'Nothing was changed. Take that risk out of required_for, or call the operations one by one.',
  });
}

function dryRun(targets: readonly Target[], { say }: AdminSession): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  for (const { context, deliveries } of targets)
    for (const { farm, replacement, steps } of deliveries) {
      const { appliance } = context.calls;
      for (const { title } of steps) say(`  ${appliance}/${oneLine(farm.name, 64)}: ${oneLine(title, 500)}`);
      outcomes.push({
        appliance,
        farm: farm.name,
        result: steps.length === 0 ? 'has it already' : 'would be delivered',
        detail: replacement ? `in the place of ${replacement.old}` : '',
      });
    }
  say('Dry run: nothing was changed.');
  return outcomes;
}

interface Sending {
  readonly session: AdminSession;
  readonly options: CallOptions;
}

/** Delivers to one farm after the other, and then looks at what they serve. */
async function deliverAll(
  targets: readonly Target[],
  renewed: Renewed,
  { session, options }: Sending,
): Promise<readonly Outcome[]> {
  const done: { readonly outcome: Outcome; readonly delivery: FarmDelivery; readonly target: Target }[] = [];
  for (const target of targets)
    for (const delivery of target.deliveries) {
      const { calls } = target.context;
      const { farm } = delivery;
      const outcome = done.some((earlier) => earlier.outcome.result === 'failed')
        ? ({ result: 'not tried', detail: 'an earlier farm failed' } as const)
        : await deliverOne(delivery, target.context, { session, options });
      done.push({ outcome: { appliance: calls.appliance, farm: farm.name, ...outcome }, delivery, target });
    }
  // At the end: until then another node of a cluster may serve the old one.
  const verified: Outcome[] = [];
  for (const { outcome, delivery, target } of done) {
    const { farm, replacement } = delivery;
    const look = { ...target, farm, replaced: replacement?.old, signal: session.stopped };
    verified.push(await verify(outcome, renewed, look));
  }
  return verified;
}

/** Adds what a farm serves to its outcome; the old certificate is a failure. */
async function verify(
  outcome: Outcome,
  renewed: Renewed,
  { farm, ...look }: { readonly farm: FarmState } & Parameters<typeof lookAtServed>[2],
): Promise<Outcome> {
  if (outcome.result === 'failed' || outcome.result === 'not tried') return outcome;
  const seen = await lookAtServed(farm, renewed, look).catch((error: unknown) => ({
    isFailure: look.signal.aborted,
    detail: `not verified: ${sentenceOf(error)}`,
  }));
  const detail = [outcome.detail, seen.detail].filter((text) => text !== '').join('; ');
  return { ...outcome, detail, ...(seen.isFailure && { result: 'failed' as const }) };
}

/** Runs the steps of a farm. After a failure, gives the farm its old certificate back. */
async function deliverOne(
  delivery: FarmDelivery,
  context: WritingContext,
  { session: { say, stopped }, options }: Sending,
): Promise<Pick<Outcome, 'result' | 'detail'>> {
  const { farm, replacement, steps } = delivery;
  if (steps.length === 0) return { result: 'has it already', detail: '' };
  let title = `Read ${farm.name}`;
  let files: readonly string[] | undefined;
  let restart: Before['restart'] = 'not called';
  const name = `${context.calls.appliance}/${oneLine(farm.name, 64)}`;
  const send = (write: Write): Promise<void> => context.calls.write(write, options);
  const noting = async (write: Write): Promise<void> => {
    if (write.key === 'actOnFarm') restart = 'unknown';
    await send(write);
    if (write.key === 'actOnFarm') restart = 'done';
  };
  try {
    files = await farmCertificates(context, farm.name);
    for (const step of steps) {
      ({ title } = step);
      say(`✓ ${name}: ${oneLine(await step.run(noting), 2_000)}`);
    }
  } catch (error) {
    const failed = `${title}: ${sentenceOf(error)}`;
    say(`✗ ${name}: ${oneLine(failed, 2_000)}`);
    if (stopped.aborted) return { result: 'failed', detail: `${failed} Run it again: it goes on from there.` };
    const after =
      files === undefined
        ? 'Nothing was changed.'
        : await putBack(context, send, delivery, { files, restart }).catch((again: unknown) =>
            notPutBack(delivery, again),
          );
    return { result: 'failed', detail: `${failed} ${after}` };
  }
  return { result: 'delivered', detail: replacement ? `in the place of ${replacement.old}` : 'restarted' };
}

function notPutBack({ farm, replacement }: FarmDelivery, error: unknown): string {
  return `It could not be put back: ${sentenceOf(error)} Look at ${farm.name}${replacement ? `, which had ${replacement.old}` : ''}.`;
}

/**
 * Returns the text of an AdminError or of an interruption; other errors are bugs and are thrown.
 */
function sentenceOf(error: unknown): string {
  if (error instanceof AdminError) return withoutKeys(`${error.title}. ${error.message} ${error.remedy}`.trim());
  if (isAbort(error)) return 'Interrupted.';
  throw error;
}

/** A hostile gateway or appliance could send the key back that was uploaded. */
function withoutKeys(text: string): string {
  return text.replaceAll(
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    '[redacted]',
  );
}

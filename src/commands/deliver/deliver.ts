import type { Static } from 'typebox';
import { createDecoder } from '../../appliance/decode.ts';
import { AppliancesSchema } from '../../http/openapi/gateway-schemas.ts';
import { globMatcher, oneLine } from '../../lib/text.ts';
import { sleep } from '../../lib/time.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import { AdminError, cannot } from '../../recipes/admin-error.ts';
import { parseJson } from '../../lib/check.ts';
import type { CallOptions, Calls, Write } from '../../recipes/calls.ts';
import { objectionLines } from '../admin/preview.ts';
import type { FarmState } from '../../recipes/restart-farm.ts';
import type { RecipeContext } from '../../recipes/recipe.ts';
import { tableLines } from '../admin/render.ts';
import { previewSteps, waitOf } from '../admin/run-recipe.ts';
import { type AdminParts, type AdminSession, callsTo, withSession } from '../admin/session.ts';
import { farmCertificates } from '../../recipes/certificate-steps.ts';
import { type DeliveryOptions, type FarmDelivery, planDelivery } from '../../recipes/delivery.ts';
import { type Before, putBack } from './put-back.ts';
import type { Renewed } from '../../recipes/renewed.ts';
import { readRenewed, sourceOf } from './source.ts';
import { lookAtServed, type Reach } from './served.ts';

/** An appliance of the token. */
interface Covered {
  readonly name: string;
  readonly reach: Reach | undefined;
}

/** The farms of an appliance that use the certificate, and how to call it. */
interface Target {
  readonly appliance: string;
  readonly calls: Calls;
  readonly context: RecipeContext;
  readonly reach: Reach | undefined;
  readonly deliveries: readonly FarmDelivery[];
}

/** A line of the table at the end. */
interface Outcome {
  readonly appliance: string;
  readonly farm: string;
  readonly result: 'delivered' | 'has it already' | 'would be delivered' | 'failed' | 'not tried';
  readonly detail: string;
}

/**
 * Creates the command that brings a renewed certificate to every farm that uses its predecessor.
 */
export function createDeliver(parts: AdminParts): Command {
  return async (context) => {
    const { flags } = context;
    const source = sourceOf(context);
    if (source === undefined) return 0;
    if (flags.force && flags.reason === undefined)
      throw new UsageError('--force needs a reason for the audit: --reason=TEXT');
    const only = onlyOf(flags.only);
    return await withSession(context, parts, async (session) =>
      deliverTo(only, await readRenewed(source, session.now()), session),
    );
  };
}

export const deliver: Command = createDeliver({ now: Date.now, sleep });

interface Only {
  readonly appliance: (name: string) => boolean;
  readonly farm: (name: string) => boolean;
}

function onlyOf(text: string | undefined): Only {
  const [appliance = '*', farm = '*'] = text?.split('/', 2) ?? [];
  return { appliance: globMatcher(appliance), farm: globMatcher(farm) };
}

/** Plans everything, then delivers one farm after the other, and stops at the first failure. */
async function deliverTo(only: Only, renewed: Renewed, session: AdminSession): Promise<number> {
  const { flags, say } = session;
  const options: CallOptions = { reason: flags.reason ?? `deliver ${renewed.file}` };
  const planned = await planAll(only, renewed, { session, options });
  say(`${renewed.file}: ${renewed.names.join(', ')}`);
  const outcomes = flags['dry-run']
    ? dryRun(planned.targets, session)
    : await deliverAll(planned.targets, renewed, { session, options });
  const rows = [...planned.failures, ...outcomes];
  say('');
  for (const line of tableLines(
    ['appliance', 'farm', 'result', 'detail'],
    rows.map(({ appliance, farm, result, detail }) => [appliance, farm, result, detail]),
  ))
    say(line);
  return rows.some(({ result }) => result === 'failed' || result === 'not tried') ? 1 : 0;
}

/**
 * Plans each appliance of the token. An appliance that cannot be planned does not keep the others
 * waiting.
 */
async function planAll(
  only: Only,
  renewed: Renewed,
  { session, options }: { readonly session: AdminSession; readonly options: CallOptions },
): Promise<{ readonly targets: readonly Target[]; readonly failures: readonly Outcome[] }> {
  const wanted: DeliveryOptions = {
    replaces: session.flags.replaces,
    force: session.flags.force === true,
    wants: only.farm,
  };
  const targets: Target[] = [];
  const failures: Outcome[] = [];
  for (const { name: appliance, reach } of await appliancesOf(session)) {
    if (!only.appliance(appliance)) continue;
    const calls = callsTo(appliance, session);
    const context = contextFor(calls, session);
    try {
      const deliveries = await planDelivery(context, renewed, wanted);
      for (const delivery of deliveries) await refuseRefused(delivery, calls, options);
      targets.push({ appliance, calls, context, reach, deliveries });
    } catch (error) {
      failures.push({ appliance, farm: '-', result: 'failed', detail: sentenceOf(error) });
    }
  }
  if (failures.length === 0 && targets.every(({ deliveries }) => deliveries.length === 0))
    throw cannot(
      `No farm has a certificate for ${wanted.replaces ?? renewed.commonName}`,
      'Check the name and the token. --replaces=NAME names a predecessor with another name.',
    );
  return { targets, failures };
}

async function appliancesOf({ client }: AdminSession): Promise<readonly Covered[]> {
  const answer = parseJson(await (await client.send({ method: 'GET', path: '/appliances' })).whole());
  const checked = createDecoder()(AppliancesSchema, answer);
  if (!checked.ok)
    throw new AdminError('The gateway answered with something else than its appliances', {
      detail: `${checked.because}. Nothing was changed.`,
      remedy: 'Use the same version of zlb-exporter on both sides.',
    });
  const { appliances } = answer as Static<typeof AppliancesSchema>;
  return appliances.map(({ name, vip }) => ({
    name,
    reach: vip && { connectTo: vip.connect_to, networks: vip.networks },
  }));
}

function contextFor(calls: Calls, { flags, now, sleep: pause, say }: AdminSession): RecipeContext {
  return {
    calls,
    values: {},
    waitMs: waitOf(flags.wait),
    now,
    sleep: pause,
    progress: (line) => say(`  … ${oneLine(line, 500)}`),
  };
}

/** Rejects with an AdminError when the gateway would refuse one of the calls. */
async function refuseRefused({ farm, steps }: FarmDelivery, calls: Calls, options: CallOptions): Promise<void> {
  for (const { step, preview } of await previewSteps(steps, calls, options)) {
    if (preview?.would === 'wait for approval') throw needsApproval(step.title);
    if (preview?.would !== 'be refused') continue;
    const objections = objectionLines({ ...preview, validation: { problems: [] } });
    throw new AdminError(`The gateway refuses: ${step.title}`, {
      detail: objections.join(' ').trim(),
      remedy: `Nothing was changed. A guard is overridden with the recipe: replace-certificate farm=${farm.name} … --force.`,
    });
  }
}

function needsApproval(title: string): AdminError {
  return new AdminError(`The gateway lets it wait for approval: ${title}`, {
    detail: 'Each step needs approval whose risk is in admin.approvals.required_for, and a delivery cannot wait.',
    remedy: 'Nothing was changed. Take that risk out of required_for, or call the operations one by one.',
  });
}

function dryRun(targets: readonly Target[], { say }: Pick<CommandContext, 'say'>): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  for (const { appliance, deliveries } of targets)
    for (const { farm, replacement, steps } of deliveries) {
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

/** Delivers to one farm after the other, and then looks at what they serve. */
async function deliverAll(
  targets: readonly Target[],
  renewed: Renewed,
  { session, options }: { readonly session: AdminSession; readonly options: CallOptions },
): Promise<readonly Outcome[]> {
  const done: { readonly outcome: Outcome; readonly farm: FarmState; readonly target: Target }[] = [];
  for (const target of targets)
    for (const delivery of target.deliveries) {
      const { appliance, calls, context } = target;
      const { farm } = delivery;
      const send = (write: Write): Promise<void> => calls.write(write, options);
      const outcome = done.some((earlier) => earlier.outcome.result === 'failed')
        ? ({ result: 'not tried', detail: 'an earlier farm failed' } as const)
        : await deliverOne(delivery, { appliance, context, send }, session);
      done.push({ outcome: { appliance, farm: farm.name, ...outcome }, farm, target });
    }
  // At the end: until then another node of a cluster may serve the old one.
  const verified: Outcome[] = [];
  for (const { outcome, farm, target } of done)
    verified.push(await verify(outcome, renewed, { ...target, farm, signal: session.stopped }));
  return verified;
}

/** Adds what a farm serves to its outcome; another certificate is a failure. */
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

interface Path {
  readonly appliance: string;
  readonly context: RecipeContext;
  readonly send: (write: Write) => Promise<void>;
}

/** Runs the steps of a farm. After a failure, gives the farm its old certificate back. */
async function deliverOne(
  delivery: FarmDelivery,
  { appliance, context, send }: Path,
  { say, stopped }: Pick<AdminSession, 'say' | 'stopped'>,
): Promise<Pick<Outcome, 'result' | 'detail'>> {
  const { farm, replacement, steps } = delivery;
  if (steps.length === 0) return { result: 'has it already', detail: '' };
  let title = `Read ${farm.name}`;
  let files: readonly string[] | undefined;
  let restart: Before['restart'] = 'not called';
  const noting = async (write: Write): Promise<void> => {
    if (write.key === 'actOnFarm') restart = 'unknown';
    await send(write);
    if (write.key === 'actOnFarm') restart = 'done';
  };
  try {
    files = await farmCertificates(context, farm.name);
    for (const step of steps) {
      ({ title } = step);
      say(`✓ ${appliance}/${oneLine(farm.name, 64)}: ${oneLine(await step.run(noting), 2_000)}`);
    }
  } catch (error) {
    const failed = `${title}: ${sentenceOf(error)}`;
    say(`✗ ${appliance}/${oneLine(farm.name, 64)}: ${oneLine(failed, 2_000)}`);
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
  if (error instanceof Error && error.name === 'AbortError') return 'Interrupted.';
  throw error;
}

/** A hostile gateway or appliance could send the key back that was uploaded. */
function withoutKeys(text: string): string {
  return text.replaceAll(
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    '[redacted]',
  );
}

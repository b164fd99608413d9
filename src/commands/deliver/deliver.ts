import { join } from 'node:path';
import { AppliancesSchema } from '../../admin/http/openapi/gateway-schemas.ts';
import { AdminError, refusal } from '../../admin/policy/admin-error.ts';
import type { DeliveryTarget } from '../../admin/recipes/recipe.ts';
import { parseJson } from '../../lib/check.ts';
import { adminCommand, globMatcher, oneLine } from '../../lib/text.ts';
import { waitSecondsFor, withoutKeys } from '../admin/run-recipe.ts';
import { readText } from '../admin/content.ts';
import { parseReply } from '../admin/gateway-client.ts';
import { type ChangeBody, requestPlan, runNow } from '../admin/run-change.ts';
import { type AdminSession, withSession } from '../admin/session.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import { tableLines } from '../table.ts';

/** A row of the table at the end. */
interface DeliveryRow {
  readonly appliance: string;
  readonly farm: string;
  readonly result: DeliveryTarget['result'] | 'delivered' | 'failed' | 'not tried';
  readonly detail: string;
  /** The file of the certificate that is replaced. */
  readonly replaces?: string | undefined;
}

/** The plan of the gateway for an appliance; `failed` says why there is none. */
interface AppliancePlan {
  readonly appliance: string;
  readonly targets: readonly DeliveryTarget[];
  readonly facts: readonly string[];
  readonly titles: readonly string[];
  readonly failed?: string;
}

/** What is planned on all appliances at first, and then carried out farm by farm. */
interface Delivery {
  readonly session: AdminSession;
  readonly body: Omit<ChangeBody, 'appliance'>;
  readonly appliances: readonly string[];
}

/** Replaces a certificate by a renewed one on every farm that uses it, through the gateway. */
export const deliver: Command = async (context) => {
  const { flags } = context;
  const source = certificateFiles(context);
  if (source === undefined) return 0;
  if (flags.force && flags.reason === undefined)
    throw new UsageError('--force needs a reason for the audit: --reason=TEXT');
  const files = { cert: await readText(source.cert, '--cert'), key: await readText(source.key, '--key') };
  // A hostile gateway could send the key back.
  const printOut = (line: string): void => context.printOut(withoutKeys(line));
  return await withSession({ ...context, printOut }, async (session) => await deliverFiles(files, session));
};

/** Plans everything, then delivers to one farm after the other, and stops at the first failure. */
async function deliverFiles(files: Readonly<Record<string, string>>, session: AdminSession): Promise<number> {
  const { flags, printOut } = session;
  const [applianceGlob = '*', farmGlob = '*'] = flags.only?.split('/', 2) ?? [];
  const named = await appliancesOf(session);
  const parameters = {
    farm: farmGlob,
    ...(flags.replaces !== undefined && { replaces: flags.replaces }),
    ...(flags.force && { fewer_names: 'true' }),
    ...(flags['change-key-type'] && { change_key_type: 'true' }),
    ...(flags['incomplete-chain'] && { incomplete_chain: 'true' }),
  };
  const reason = flags.reason ?? 'deliver a renewed certificate';
  const body = { recipe: 'deliver', parameters, files, reason, ...waitSecondsFor(session) };
  let delivery: Delivery = { session, body, appliances: named.filter(globMatcher(applianceGlob)) };
  let plans = await planAll(delivery);
  if (coversOneOther(plans)) {
    delivery = { ...delivery, body: { ...body, parameters: { ...parameters, covered: 'true' } } };
    plans = await planAll(delivery);
  }
  const [fact] = plans.flatMap(({ facts }) => facts);
  if (fact !== undefined) printOut(oneLine(fact, 2_000));
  const unchanged = unchangedRows(plans, flags.replaces);
  const outcomes = flags['dry-run'] ? dryRun(plans, session) : await deliverAll(plans, delivery);
  const rows = [...unchanged, ...outcomes];
  printTable(rows, session);
  return rows.some(({ result }) => result === 'failed' || result === 'not tried') ? 1 : 0;
}

/** Resolves to the names of the appliances of the token. */
async function appliancesOf(session: AdminSession): Promise<readonly string[]> {
  const response = parseJson(await (await session.client.send({ method: 'GET', path: '/appliances' })).readBody());
  const title = 'The gateway answered with something other than its appliances';
  return parseReply(AppliancesSchema, response, title).appliances.map(({ name }) => name);
}

/** Lets the gateway plan all appliances at the same time; each has a queue of its own there. */
async function planAll({ session, body, appliances }: Delivery): Promise<readonly AppliancePlan[]> {
  return await Promise.all(appliances.map(async (appliance) => await planOne({ ...body, appliance }, session)));
}

/** Resolves also for an appliance that cannot be planned, so that the others get the certificate. */
async function planOne(body: ChangeBody, session: AdminSession): Promise<AppliancePlan> {
  const { appliance } = body;
  const none = { appliance, facts: [], titles: [], targets: [] };
  try {
    const { plan, would } = await requestPlan(body, session);
    const { facts, steps, targets = [] } = plan;
    if (would === 'be sent') return { appliance, facts, titles: steps.map(({ title }) => title), targets };
    return { ...none, facts, failed: objections(steps) };
  } catch (error) {
    return { ...none, failed: errorText(error, session) };
  }
}

function objections(steps: Awaited<ReturnType<typeof requestPlan>>['plan']['steps']): string {
  const texts = steps.flatMap(({ title, would, because, findings }) => {
    if (would === 'wait for approval') return `${title}: it needs approval, and a delivery cannot wait.`;
    const blocking = findings.filter(({ severity }) => severity === 'blocking');
    return would === 'be refused' ? `${title}: ${[...because, ...blocking.map(({ remedy }) => remedy)].join(' ')}` : [];
  });
  return `The gateway refuses: ${texts.join(' ')} Nothing was changed.`;
}

/**
 * Returns true if no farm has a certificate for the same names, but the new one covers certificates
 * with one other set of names. Throws an AdminError for several sets: the new one can be the renewal
 * of one of them only.
 */
function coversOneOther(plans: readonly AppliancePlan[]): boolean {
  if (plans.some(hasCertificate)) return false;
  const covered = plans.flatMap(({ appliance, targets }) =>
    targets.flatMap(({ covers, ...target }) => (covers ? { ...target, appliance, names: covers } : [])),
  );
  const sets = new Set(covered.map(({ names }) => names.toSorted().join()));
  if (sets.size < 2) return sets.size === 1;
  const each = covered.map(
    ({ appliance, farm, replaces, names }) => `${replaces} of ${appliance}/${farm}: ${names.join(', ')}`,
  );
  throw refusal(
    `The certificate covers several certificates with different names (${each.slice(0, 5).join('; ')})`,
    'Say which one to replace: --replaces=FILE.',
  );
}

function hasCertificate({ targets }: AppliancePlan): boolean {
  return targets.some(({ result }) => result === 'would be delivered' || result === 'has it already');
}

/** Returns true for a farm whose certificate stays: the new one is not its renewal. */
function staysUnchanged({ result }: AppliancePlan['targets'][number]): boolean {
  return result === 'other key type' || result === 'other names';
}

/** Returns the rows of farms that stay as they are; throws an AdminError if nothing else is left to do. */
function unchangedRows(plans: readonly AppliancePlan[], replaces: string | undefined): readonly DeliveryRow[] {
  const failed = plans.flatMap(({ appliance, failed: detail }): DeliveryRow | [] =>
    detail === undefined ? [] : { appliance, farm: '-', result: 'failed', detail },
  );
  const kept = plans.flatMap(({ appliance, targets }) =>
    targets
      .filter(staysUnchanged)
      .map(({ farm, result, detail }): DeliveryRow => ({ appliance, farm, result, detail })),
  );
  if (plans.some(hasCertificate)) return [...failed, ...kept];
  const otherKey = kept.find(({ result }) => result === 'other key type');
  if (otherKey && failed.length === 0)
    throw refusal(
      `${otherKey.farm} of ${otherKey.appliance} has a certificate for it, but ${otherKey.detail}`,
      otherKeyRemedy,
    );
  if (failed.length + kept.length === 0)
    throw refusal(
      plans[0]?.facts.join(' ') ?? 'The token covers no such appliance',
      'Check the names and the token. --replaces=FILE replaces a certificate with other names.',
    );
  return [...failed, ...kept.map((each) => ({ ...each, result: 'failed' as const, replaces }))];
}

const otherKeyRemedy =
  'Renew it with a key of the old type (certbot: --key-type rsa; lego: --key-type rsa2048). To change the type of the key, if all clients know the new one: --change-key-type.';

function dryRun(plans: readonly AppliancePlan[], { printOut }: AdminSession): readonly DeliveryRow[] {
  for (const { appliance, titles } of plans)
    for (const title of titles) printOut(`  ${oneLine(appliance, 64)}: ${oneLine(title, 500)}`);
  printOut('Dry run: nothing was changed.');
  return plannedRows(plans);
}

/** Returns the farms that have the certificate or get it. */
function plannedRows(plans: readonly AppliancePlan[]): readonly DeliveryRow[] {
  return plans.flatMap(({ appliance, targets }) =>
    targets
      .filter((target) => !staysUnchanged(target))
      .map(({ farm, result, detail, replaces, serves_old: isOld }) => ({
        appliance,
        farm,
        result: isOld ? ('failed' as const) : result,
        detail,
        replaces,
      })),
  );
}

/** Delivers to one farm after the other; then the gateway looks at what they serve. */
async function deliverAll(plans: readonly AppliancePlan[], delivery: Delivery): Promise<readonly DeliveryRow[]> {
  const outcomes: DeliveryRow[] = [];
  for (const wanted of plannedRows(plans)) {
    const isTried = wanted.result === 'would be delivered';
    if (isTried && outcomes.some(({ result }) => result === 'failed'))
      outcomes.push({ ...wanted, result: 'not tried', detail: 'an earlier farm failed' });
    else outcomes.push(isTried ? await deliverOne(wanted, delivery) : wanted);
  }
  return await withServedCertificates(outcomes, delivery);
}

async function deliverOne(wanted: DeliveryRow, { session, body }: Delivery): Promise<DeliveryRow> {
  const { appliance, farm } = wanted;
  const { printOut } = session;
  const place = `${appliance}/${oneLine(farm, 64)}`;
  const parameters = { ...body.parameters, farm };
  try {
    const { change, unreported } = await runNow({ ...body, appliance, parameters }, session, (event) => {
      if (event.event === 'end') printOut(`${place} ${oneLine(event.line, 2_000)}`);
      if (event.event === 'wait') printOut(`${place}   … ${oneLine(event.line, 500)}`);
    });
    if (change.state === 'done') return { ...wanted, result: 'delivered' };
    for (const line of unreported) printOut(`${place}   ${oneLine(line, 2_000)}`);
    const why = change.outcome?.lines.filter((line) => !line.startsWith('✓')) ?? [change.state];
    return { ...wanted, result: 'failed', detail: why.join(' ') };
  } catch (error) {
    return { ...wanted, result: 'failed', detail: errorText(error, session) };
  }
}

/**
 * Adds which certificate the farms serve, as a second plan of the gateway shows. It is made at the
 * end: before, another node of a cluster may serve the old certificate.
 */
async function withServedCertificates(
  outcomes: readonly DeliveryRow[],
  delivery: Delivery,
): Promise<readonly DeliveryRow[]> {
  const isDelivered = ({ result }: DeliveryRow): boolean => result === 'delivered';
  const changed = new Set(outcomes.filter(isDelivered).map(({ appliance }) => appliance));
  const plans = await planAll({ ...delivery, appliances: [...changed] });
  return outcomes.map((outcome) => {
    if (!isDelivered(outcome)) return outcome;
    const plan = plans.find(({ appliance }) => appliance === outcome.appliance);
    const seen = plan?.targets.find(({ farm }) => farm === outcome.farm);
    const what =
      seen?.result === 'has it already' ? seen.detail : `not verified: ${plan?.failed ?? 'it changes again'}`;
    const detail = `${outcome.detail}; ${what}`;
    return { ...outcome, detail, ...(seen?.serves_old && { result: 'failed' as const }) };
  });
}

function printTable(rows: readonly DeliveryRow[], { printOut }: AdminSession): void {
  const table = tableLines(
    ['appliance', 'farm', 'result', 'detail'],
    rows.map(({ appliance, farm, result, detail }) => [appliance, farm, result, detail]),
  );
  for (const line of ['', ...table, ...deletionCommands(rows)]) printOut(line);
}

/** Returns the commands that delete the old files, which appliances refuse while a farm has one. */
function deletionCommands(rows: readonly DeliveryRow[]): readonly string[] {
  const commands = rows.flatMap(({ appliance, result, replaces = '' }) =>
    result === 'delivered' && replaces !== ''
      ? [adminCommand(appliance, 'deleteCertificate', `file=${replaces}`, `--confirm=${replaces}`)]
      : [],
  );
  if (commands.length === 0) return [];
  return [
    '',
    'The old files stay in the store. Once nobody needs them:',
    ...[...new Set(commands)].map((each) => `  ${each}`),
  ];
}

/** Returns the text of an AdminError; other errors are bugs and are thrown. */
function errorText(error: unknown, { stopped }: AdminSession): string {
  if (!(error instanceof AdminError)) throw error;
  // Nothing more is asked for once a person has said stop.
  if (stopped.aborted) throw error;
  const title = error.code === 'recipe_refused' ? '' : `${error.title}. `;
  return `${title}${error.message} ${error.remedy}`.trim();
}

interface CertificateFiles {
  /** The certificate and the intermediates. */
  readonly cert: string;
  readonly key: string;
}

/**
 * Returns the files that the flags name, or else those that an ACME client hands to its hook:
 * certbot and lego in the environment, dehydrated as words. Undefined for the hook calls of
 * dehydrated that bring no certificate. Throws a UsageError when no files are named.
 */
function certificateFiles({ flags, env, arguments: words }: CommandContext): CertificateFiles | undefined {
  const [handler, , hookKey, , hookChain] = words;
  if (handler === 'deploy_cert') {
    if (hookKey !== undefined && hookChain !== undefined) return { cert: hookChain, key: hookKey };
    throw new UsageError('deploy_cert needs what dehydrated gives it: DOMAIN KEYFILE CERTFILE FULLCHAINFILE');
  }
  // dehydrated calls its hook for every step, and expects that unknown ones are ignored.
  if (handler !== undefined && /^[a-z]+(?:_+[a-z]+)+$/.test(handler)) return undefined;
  if (handler !== undefined)
    throw new UsageError('deliver takes flags only: --cert=FULLCHAIN --key=KEY; deliver --help shows examples');
  const [cert, key] = [flags.cert, flags.key];
  if (cert !== undefined && key !== undefined) return { cert, key };
  if ((cert ?? key) !== undefined)
    throw new UsageError('--cert and --key go together: the certificate with its intermediates, and its key');
  const { RENEWED_LINEAGE: lineage } = env;
  if (lineage) return { cert: join(lineage, 'fullchain.pem'), key: join(lineage, 'privkey.pem') };
  // lego 5, and lego before it.
  for (const prefix of ['LEGO_HOOK', 'LEGO']) {
    const { [`${prefix}_CERT_PATH`]: legoCert, [`${prefix}_CERT_KEY_PATH`]: legoKey } = env;
    if (legoCert && legoKey) return { cert: legoCert, key: legoKey };
  }
  throw new UsageError(
    'which certificate? Give --cert=FULLCHAIN and --key=KEY, or call deliver as a hook of certbot, lego or dehydrated; deliver --help shows how',
  );
}
